"""The file of scheduler_perf's figures: each round of each workload, so that a long measurement can go on later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from dra_bench.cluster.row import Spread
from dra_bench.controlplane.binaries import KUBERNETES_VERSION
from dra_bench.controlplane.flags import SCHEDULER
from dra_bench.record import write_json
from dra_bench.upstream.errors import ResultsError


@dataclass(frozen=True, slots=True)
class Round:
    """Ours and then kube-scheduler, each on a fresh API server.

    `ours` and `reference` in pods per second; `date` a day (UTC); `commit` the project's; `seconds` for both runs.
    """

    workload: str
    ours: float
    reference: float
    date: str
    commit: str
    seconds: float

    @property
    def ratio(self) -> float:
        """Ours by kube-scheduler's."""
        return self.ours / self.reference


class Rounds:
    """All rounds of a file, in the order in which they ran."""

    def __init__(self, path: Path | None) -> None:
        """`path` None: nothing is kept. Figures of another release of Kubernetes are left out. Raises ResultsError."""
        self._path = path
        self.all: list[Round] = []
        if path is None or not path.exists():
            return
        try:
            content = orjson.loads(path.read_bytes())
            if content["kubernetes"] == KUBERNETES_VERSION:
                self.all = [Round(**one) for one in content["rounds"]]
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise ResultsError(f"{path} is no file of rounds: {error}; move it away or mend it") from error

    def of(self, workload: str) -> list[Round]:
        """Return the rounds of one workload."""
        return [one for one in self.all if one.workload == workload]

    def forget(self, workloads: Iterable[str]) -> None:
        """Drop the rounds of some workloads; the file keeps them until the next round is taken."""
        gone = frozenset(workloads)
        self.all = [one for one in self.all if one.workload not in gone]

    def take(self, found: Round) -> None:
        """Add a round and write the file."""
        self.all.append(found)
        if self._path is not None:
            rounds = [asdict(one) for one in self.all]
            write_json(self._path, {"kubernetes": KUBERNETES_VERSION, "rounds": rounds})


def figures(rounds: Sequence[Round]) -> tuple[str, str, str]:
    """Return ours, kube-scheduler's and the ratio of a workload's rounds, at least one: medians, and spreads if any."""
    return (
        _spread([one.ours for one in rounds], 1),
        _spread([one.reference for one in rounds], 1),
        _spread([one.ratio for one in rounds], 2),
    )


def summary(rounds: Sequence[Round]) -> str:
    """Say in a line what came out of a workload's rounds, at least one: medians, each with the spread."""
    ours, reference, ratio = figures(rounds)
    return f"{rounds[0].workload}: ours {ours}, {SCHEDULER} {reference} pods/s, ratio {ratio}"


def _spread(values: Sequence[float], digits: int) -> str:
    """A single value has none."""
    return Spread.of(values).text(digits) if len(values) > 1 else f"{values[0]:.{digits}f}"
