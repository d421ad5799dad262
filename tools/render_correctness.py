"""Write docs/correctness.md from the records of runs in benchmarks/results/.

python tools/render_correctness.py          write it
python tools/render_correctness.py --check  exit code 1 if it is not up to date
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOCUMENT = ROOT / "docs" / "correctness.md"

Run = dict[str, Any]

BUGS = {
    5: "mode All: a violated constraint is an error instead of a step back or the next alternative",
    6: "uses an older generation of a pool that looks complete when the newest one serves other nodes",
    7: "admin access needs and takes counters and capacity, and blocks its device for later claims",
    8: "a device's node selector that cannot be used ends the attempt, whoever's device it is",
    9: "with fractional ranges on, ranges of integers are computed in thousandths too, and overflow",
    10: "runs out of time among devices that are alike (its time limit here is 2 s)",
    15: "a device with a share that holds no capacity is given away as a whole once it is not shareable any more",
    16: "lets a device join others whose compatibility groups contradict each other if it goes with the first of them",
}
"""By the numbers that `dra_bench/oracle/model/bugs.py` gives them."""

HEAD = """# How we know that it is right

Written by `tools/render_correctness.py` from the records in `benchmarks/results/`; a test fails if it is out of date.

What a selector means and which devices a claim gets is checked in four ways that have no code in common:

1. **Kubernetes' own cases**: the tables of its allocator's and selectors' tests, as JSON, through our engine
   (`dra-bench conformance FILE ...`).
2. **Kubernetes as an oracle**: its Go allocator and its CEL answer the same random clusters and expressions as we do
   ([oracle.md](oracle.md)).
3. **Models**: a plain allocator on API objects judges between the two (`benchmarks/dra_bench/oracle/model/`); another
   one tries out every choice (`tests/support/brute_force.py`) and is compared with the fast one by property tests.
4. **cel-python**, another implementation of the language, must agree where it implements it.

Two more ask other questions. `dra-bench fuzz` feeds damaged input: only our own errors may come out, in bounded time,
and no device may be given away twice. `tools/mutate.py` breaks the code on purpose and demands that a test notices.
"""


def runs(name: str) -> list[Run]:
    """Return the runs of a record; none where there is no file."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text())["runs"] if path.exists() else []


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table; numbers have their digits grouped."""
    names = tuple(head)
    lines = [
        names,
        ("---",) * len(names),
        *(tuple(f"{c:,}" if isinstance(c, int) else str(c) for c in r) for r in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def conformance() -> Iterator[str]:
    yield "## Kubernetes' own cases\n"
    path = RESULTS / "conformance.json"
    if not path.exists():
        yield "No run is recorded.\n"
        return
    found = json.loads(path.read_text())
    yield f"At {found['commit']}: {found['passed']:,} cases passed, {found['failed']:,} failed.\n"
    if found["failures"]:
        yield table(("failed", "how"), ((one["name"], one["difference"]) for one in found["failures"]))
    if found["corrected"]:
        yield "Held to what is right instead of what Kubernetes expects of itself:\n"
        yield table(("case", "why"), found["corrected"].items())


def oracle() -> Iterator[str]:
    yield "## Kubernetes as an oracle\n"
    found = runs("oracle")
    if not found:
        yield "No run is recorded.\n"
        return
    yield table(
        ("study", "seeds", "commit", "Kubernetes", "inputs", "equal", "explained", "unexplained", "seconds"),
        (
            (
                run["study"],
                f"{run['first']}-{run['last']}",
                run["commit"],
                run["kubernetes"],
                *shares(run["counts"]),
                took(run),
            )
            for run in found
        ),
    )
    yield "Explained are the listed bugs below and, for expressions, panics and random answers of Kubernetes.\n"
    yield from kinds("What was unexplained, and how often:\n", found, "unexplained")


def shares(counts: dict[str, int]) -> tuple[int, int, int, int]:
    """Return the inputs, and how many of them were equal, explained and unexplained."""
    total, equal = sum(counts.values()), counts.get("equal", 0)
    unexplained = sum(count for kind, count in counts.items() if kind.startswith("unexplained"))
    return total, equal, total - equal - unexplained, unexplained


def place(run: Run) -> tuple[str, str, str]:
    """Return the study, the seeds and the commit of a run."""
    return run["study"], f"{run['first']}-{run['last']}", run["commit"]


def took(run: Run) -> int:
    seconds: float = run["seconds"]
    return round(seconds)


def kinds(title: str, found: list[Run], prefix: str) -> Iterator[str]:
    total: Counter[tuple[str, str]] = Counter()
    for run in found:
        total.update({(run["study"], kind): count for kind, count in run["counts"].items() if kind.startswith(prefix)})
    if total:
        yield title
        yield table(("study", "kind", "times"), ((*key, count) for key, count in sorted(total.items())))


def bugs() -> Iterator[str]:
    yield "## Bugs of Kubernetes that we do not have\n"
    times: Counter[int] = Counter()
    for run in runs("oracle"):
        for kind, count in run["counts"].items():
            if kind.startswith("bug "):
                times.update(dict.fromkeys(map(int, kind.removeprefix("bug ").partition(",")[0].split("+")), count))
    yield "How often the random clusters met each of them; a cluster counts only if the model agrees with us, and with"
    yield "Kubernetes once the bug is switched on in it. `tests/oracle/cases/` has a case of each.\n"
    yield table(("bug", "what Kubernetes does", "clusters"), ((str(n), text, times[n]) for n, text in BUGS.items()))
    yield "Older releases (1.36) have four more, each a test of ours: distinctAttribute compared only with the last"
    yield "device; the common values of a matchAttribute stayed narrowed after a step back; counters were kept without"
    yield "the driver's name; counters stayed charged for devices that were not taken.\n"


def fuzz() -> Iterator[str]:
    yield "## Damaged input\n"
    found = runs("fuzz")
    if not found:
        yield "No run is recorded.\n"
        return
    per_study: dict[str, list[Run]] = defaultdict(list)
    for run in found:
        per_study[run["study"]].append(run)
    yield table(
        ("study", "seeds", "commit", "inputs", "failed", "worst CPU ms", "seconds"),
        (
            (
                *place(run),
                sum(run["counts"].values()),
                run["counts"].get("failed", 0),
                f"{run['worst_ms']:.1f}",
                took(run),
            )
            for study in sorted(per_study)
            for run in per_study[study]
        ),
    )
    total = sum(sum(run["counts"].values()) for run in found)
    yield f"{total:,} inputs in all. What came out, over all runs:\n"
    yield table(("study", "outcomes"), ((study, outcomes(per_study[study])) for study in sorted(per_study)))


def outcomes(found: list[Run]) -> str:
    total: Counter[str] = Counter()
    for run in found:
        total.update(run["counts"])
    return "; ".join(f"{kind}: {count:,}" for kind, count in total.most_common(8))


def second_opinion() -> Iterator[str]:
    sys.path.insert(0, str(ROOT / "tests"))
    from support.cel_python_differences import DIFFERENCES

    yield "## cel-python\n"
    yield "Random expressions of the language itself give the same with both (`tests/cel/test_cel_python.py`). Where"
    yield "cel-python differs from Kubernetes, and so from us, this is known (T true, F false, E error while running,"
    yield "C does not compile; `$A` are the attributes of the device's driver):\n"
    rows = ((f"`{text.replace('|', chr(92) + '|')}`", ours, theirs, why) for text, ours, theirs, why in DIFFERENCES)
    yield table(("expression", "ours", "cel-python", "why"), rows)


def document() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for part in (conformance, oracle, bugs, fuzz, second_opinion):
        parts += part()
    return "\n".join(parts)


def main() -> int:
    text = document()
    if "--check" in sys.argv[1:]:
        if not DOCUMENT.exists() or DOCUMENT.read_text() != text:
            print("docs/correctness.md is out of date: run python tools/render_correctness.py")
            return 1
        return 0
    DOCUMENT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
