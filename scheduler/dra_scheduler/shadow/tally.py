"""Figures of a shadow so far."""

from __future__ import annotations

from dra_scheduler.shadow.durations import Durations
from dra_scheduler.shadow.opinion import KINDS, SERIOUS, Compared, Kind


class Tally:
    """How many pods compare how, and how long each side took from when the pod could be decided."""

    def __init__(self) -> None:
        self.counts: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self.ours = Durations()
        """From when a pod could be decided until we had decided."""
        self.theirs = Durations()
        """From the same moment until the pod was seen to be bound."""
        self.deciding = Durations()
        """One of our decisions by itself."""

    def add(self, compared: Compared) -> None:
        """Count one pod."""
        self.counts[compared.kind] += 1
        if compared.our_seconds is not None:
            self.ours.add(compared.our_seconds)
        if compared.their_seconds is not None:
            self.theirs.add(compared.their_seconds)

    @property
    def serious(self) -> int:
        """Pods about which the two schedulers contradict each other."""
        return sum(count for kind, count in self.counts.items() if kind in SERIOUS)

    def data(self) -> dict[str, object]:
        """Return the figures as plain data; times in milliseconds."""
        named = (("ours", self.ours), ("theirs", self.theirs), ("deciding", self.deciding))
        times = {name: _times(durations) for name, durations in named if durations.count}
        return {"pods": {kind: count for kind, count in self.counts.items() if count}, "milliseconds": times}


def _times(durations: Durations) -> dict[str, float]:
    quantiles = {"p50": durations.quantile(0.5), "p99": durations.quantile(0.99), "max": durations.largest}
    return {name: round(seconds * 1000, 2) for name, seconds in quantiles.items()} | {"count": durations.count}
