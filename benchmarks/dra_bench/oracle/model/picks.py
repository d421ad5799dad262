"""What the search works with: alternatives of requests, candidates, picks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dra_bench.oracle.model.pools import DeviceKey, Pool

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A request, or one subrequest of it. `everything` has the candidates' indices for mode All."""

    claim: int
    request: int
    number: int
    names: tuple[str, str]  # the request's, and the one in results: `request` or `request/subrequest`
    body: JSON
    device_class: JSON
    everything: tuple[int, ...] | None = None

    @property
    def admin(self) -> bool:
        """Whether it asks for admin access."""
        return bool(self.body.get("adminAccess"))

    @property
    def wanted(self) -> int:
        """How many devices."""
        if self.everything is not None:
            return len(self.everything)
        count: int = self.body.get("count", 1)
        return count


@dataclass(frozen=True, slots=True)
class Candidate:
    """A device in a slice for the node (with per-device node selection: perhaps of another node)."""

    pool: Pool
    device: JSON
    spec: JSON

    @property
    def key(self) -> DeviceKey:
        """The device's name in the cluster."""
        return self.pool.key(self.device)


@dataclass(frozen=True, slots=True)
class Pick:
    """A device for a request. `taken` is what it consumes of a shared device; None: it is not shared."""

    alternative: Alternative
    candidate: Candidate
    taken: Mapping[str, Fraction] | None
