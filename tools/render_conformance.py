"""Write docs/conformance.md from the record of runs of Kubernetes' own tests.

python tools/render_conformance.py          write it
python tools/render_conformance.py --check  exit code 1 if it is not up to date
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dra_bench.upstream.expected import EXPECTED, reason
from dra_bench.upstream.test_output import leaves

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "upstream.json"
DOCUMENT = ROOT / "docs" / "conformance.md"

Tests = dict[str, dict[str, dict[str, Any]]]
"""By name, by who (ours, reference)."""

HEAD = """# Kubernetes' own tests

Written by `tools/render_conformance.py` from `benchmarks/results/upstream.json`; a test fails if it is out of date.

Kubernetes tests Dynamic Resource Allocation with a real API server, its ResourceClaim controller and kube-scheduler
(`test/integration/dra`). `tests/upstream/` builds the same tests so that they start another scheduler where they would
start kube-scheduler, and changes nothing else of them: what is created, waited for and compared (conditions to the
letter) is Kubernetes'. The scheduler gets a name, the feature gates and the time-outs that a test sets, nothing else:

    dra-scheduler run --scheduler-name default-scheduler --http 127.0.0.1:PORT --feature-gates GATES
        [--filter-timeout TIME] [--binding-timeout TIME]

```sh
make upstream                                   # build the tests; needs Go
make test-upstream                              # all suites with our scheduler: 10 to 25 minutes
make test-upstream SUITES=all RUN=AdminAccess   # some of one suite
make test-upstream-reference                    # the same with kube-scheduler
```

`RESULTS=benchmarks/results/upstream.json` notes how each test ended; output and the scheduler's logs are in
`.upstream/`. The suites differ in the API server's gates: `all` has every gate of DRA on, `default` the release's
defaults, `ga` only what is stable, `api` older versions of the API and of Kubernetes.
"""


def load() -> dict[str, Tests]:
    """Return the record: suite -> test -> who -> result. Empty where there is no file."""
    return json.loads(RESULTS.read_text())["suites"] if RESULTS.exists() else {}


def expected() -> Iterator[str]:
    yield "## Tests that are right to fail\n"
    for name, why in EXPECTED.items():
        yield f"* `{name}`. {why}"
    yield ""


def summary(suites: dict[str, Tests]) -> Iterator[str]:
    yield "## What came out\n"
    if not suites:
        yield "No run is recorded.\n"
        return
    version = json.loads(RESULTS.read_text())["kubernetes"]
    yield f"Kubernetes {version}; tests that hold no others:\n"
    yield "| suite | tests | ours | kube-scheduler | ours at | on |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for suite, tests in suites.items():
        ends = leaves(set(tests))
        ours = [tests[name]["ours"] for name in ends if "ours" in tests[name]]
        commits = ", ".join(sorted({one["commit"] for one in ours}))
        dates = ", ".join(sorted({one["date"] for one in ours}))
        counts = (tally(tests, ends, who) for who in ("ours", "reference"))
        yield f"| {suite} | {len(ends)} | {' | '.join(counts)} | {commits} | {dates} |"
    yield ""


def tally(tests: Tests, names: set[str], who: str) -> str:
    """Return how the tests ended with one scheduler, such as `40 pass, 1 fail as expected`."""
    counts: Counter[str] = Counter()
    for name in names:
        outcome = tests[name].get(who, {}).get("outcome", "not run")
        excused = who == "ours" and outcome == "fail" and reason(name) is not None
        counts["fail as expected" if excused else outcome] += 1
    in_order = sorted(counts.items(), key=lambda item: (item[0] != "pass", -item[1], item[0]))
    return ", ".join(f"{count} {outcome}" for outcome, count in in_order)


def each(suites: dict[str, Tests]) -> Iterator[str]:
    for suite, tests in suites.items():
        yield f"## {suite}\n"
        yield "| test | tests in it | ours | kube-scheduler |"
        yield "| --- | --- | --- | --- |"
        groups: dict[str, set[str]] = defaultdict(set)
        for name in leaves(set(tests)):
            groups["/".join(name.split("/")[1:3])].add(name)
        for group in sorted(groups):
            counts = (tally(tests, groups[group], who) for who in ("ours", "reference"))
            yield f"| {group} | {len(groups[group])} | {' | '.join(counts)} |"
        yield ""


def document() -> str:
    """Return the whole page."""
    suites = load()
    return "\n".join([HEAD, *summary(suites), *expected(), *each(suites)]).rstrip("\n") + "\n"


def main() -> int:
    text = document()
    if "--check" in sys.argv[1:]:
        if not DOCUMENT.exists() or DOCUMENT.read_text() != text:
            print("docs/conformance.md is out of date: run python tools/render_conformance.py")
            return 1
        return 0
    DOCUMENT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
