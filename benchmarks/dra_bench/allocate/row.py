"""A line of results; its fields are the keys of the JSON form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from dra_bench.allocate.loop import Measured


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured for a workload.

    Attributes:
        workload: its name.
        nodes: so many nodes.
        devices: devices per node.
        allocations_per_s: decisions per second of the loop, which also lets claims go.
        p50_ms: median duration of a decision.
        p99_ms: its 99th percentile.
        load_s: seconds from the bytes of the ResourceSlices to a table that is ready for decisions.
        rss_mib: memory of the process after the loop, everything included.
        peer_all_p50_ms: median time of Kubernetes' allocator for the same claims over all nodes; None: not measured.
        peer_sample_p50_ms: the same over the nodes that kube-scheduler looks at by default.
        ratio_all: how many times as long Kubernetes' allocator took as we did, over all nodes.
        ratio_sample: the same for the sample.

    """

    workload: str
    nodes: int
    devices: int
    allocations_per_s: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    load_s: float | None = None
    rss_mib: float | None = None
    peer_all_p50_ms: float | None = None
    peer_sample_p50_ms: float | None = None
    ratio_all: float | None = None
    ratio_sample: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it with its keys in order."""
        return asdict(self)


KEYS = tuple(one.name for one in fields(Row))


def percentile(durations: list[float], part: int) -> float:
    """Return a percentile of durations, to a thousandth."""
    return round(float(np.percentile(durations, part)), 3)


def rates(measured: Measured) -> dict[str, float]:
    """Return what a row says about a measured loop."""
    return {
        "allocations_per_s": round(len(measured.durations) / measured.seconds, 1),
        "p50_ms": percentile(measured.durations, 50),
        "p99_ms": percentile(measured.durations, 99),
    }


def ratio(peer_ms: float | None, ours_ms: float | None) -> float | None:
    """Return how many times as long the peer takes."""
    return None if peer_ms is None or not ours_ms else round(peer_ms / ours_ms, 2)


def memory_mib() -> float | None:
    """Return the memory that this process has in use; None where /proc does not say."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        return None
    return None
