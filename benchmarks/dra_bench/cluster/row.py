"""A result; its fields are the keys of the JSON form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One scheduler in one round.

    Attributes:
        scheduler: `ours`, `kube-scheduler`, `ceiling`, or the name given to a command; `... (defaults)` for the row
            with the flags that every component has by itself.
        nodes: so many nodes.
        devices: devices per node.
        selector: whether the claims select by model and memory in CEL.
        pods: so many pods, each with a claim of its own.
        pods_per_s: from the first pod bound to the last one, over a backlog.
        writes_per_pod: requests that change something, whoever sent them, while the pods were bound.
        double_allocations: devices that more than one claim has in the end.
        round: counted from 1.

    """

    scheduler: str
    nodes: int
    devices: int
    selector: bool
    pods: int
    pods_per_s: float
    writes_per_pod: float
    double_allocations: int
    round: int

    def as_json(self) -> dict[str, Any]:
        """Return it with its keys in order."""
        return asdict(self)


KEYS = tuple(one.name for one in fields(Row))


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the smallest and the largest value."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of some values, at least one."""
        return cls(median(values), min(values), max(values))

    def text(self, digits: int = 0) -> str:
        """`78 (71-83)`."""
        return f"{self.median:.{digits}f} ({self.low:.{digits}f}-{self.high:.{digits}f})"


def schedulers(rows: Sequence[Row]) -> list[str]:
    """The names of the schedulers in the order in which they first ran."""
    return list(dict.fromkeys(row.scheduler for row in rows))


def spread(rows: Sequence[Row], scheduler: str, value: Callable[[Row], float]) -> Spread:
    """A value's spread over a scheduler's rounds."""
    return Spread.of([value(row) for row in rows if row.scheduler == scheduler])


def ratio(rows: Sequence[Row], scheduler: str, peer: str) -> Spread | None:
    """The spread of a scheduler's pods per second relative to a peer's in the same round; None: they never met."""
    theirs = {row.round: row.pods_per_s for row in rows if row.scheduler == peer}
    ratios = [
        row.pods_per_s / theirs[row.round] for row in rows if row.scheduler == scheduler and theirs.get(row.round)
    ]
    return Spread.of(ratios) if ratios else None
