"""All workloads by name, and the groups by which they are asked for."""

from __future__ import annotations

from difflib import get_close_matches

from dra_bench.allocate.errors import UnknownWorkloadError
from dra_bench.allocate.scenario import Workload
from dra_bench.allocate.workloads import (
    churn,
    distinct,
    exponential,
    fallback,
    fill,
    match,
    nofit,
    partitions,
    prioritized,
    selector,
    shared,
    taints,
)

_MODULES = (
    fill,
    churn,
    selector,
    fallback,
    match,
    distinct,
    prioritized,
    partitions,
    shared,
    taints,
    nofit,
    exponential,
)
WORKLOADS = {workload.name: workload for module in _MODULES for workload in module.WORKLOADS}
GROUPS = {"exponential": [name for name in WORKLOADS if name.startswith("exponential/")]}


def chosen(names: list[str]) -> list[Workload]:
    """Return the workloads of these names and groups in their order; none named: all. Raises UnknownWorkloadError."""
    if not names:
        return list(WORKLOADS.values())
    found: dict[str, Workload] = {}
    for name in names:
        for one in GROUPS.get(name, [name]):
            if one not in WORKLOADS:
                known = [*WORKLOADS, *GROUPS]
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                raise UnknownWorkloadError(f"there is no workload {name}: {hint}")
            found[one] = WORKLOADS[one]
    return list(found.values())
