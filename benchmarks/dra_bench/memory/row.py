"""The result; its fields are the keys of the JSON form."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """Memory of `dra-scheduler run` (resident, MiB) with all pods and claims there from the start.

    Attributes:
        nodes: so many nodes.
        devices: devices per node.
        pods: so many pods, each with a claim of its own, all pending in the beginning.
        bound: how many of them were bound within the limit.
        seconds: until then, start included.
        ready_mib: when its caches were filled.
        peak_mib: the largest amount.
        end_mib: in the end, when nothing is to be done.

    """

    nodes: int
    devices: int
    pods: int
    bound: int
    seconds: float
    ready_mib: float
    peak_mib: float
    end_mib: float

    def as_json(self) -> dict[str, Any]:
        """Return it with its keys in order."""
        return asdict(self)
