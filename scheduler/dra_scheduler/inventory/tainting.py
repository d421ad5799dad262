"""The taints of devices: those that drivers publish and those of DeviceTaintRules (KEP-5055)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dra_allocator.device import DeviceTaint
from dra_allocator.masks import MaskStore
from dra_allocator.taint_rules import TaintRules
from dra_scheduler.cache.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint and where it is from: the ResourceSlice (`rule` empty) or a DeviceTaintRule."""

    taint: DeviceTaint
    rule: str = ""

    def __str__(self) -> str:
        value = f"={self.taint.value}" if self.taint.value else ""
        return f"{self.taint.key}{value}:{self.taint.effect}"


def taints_by_row(cluster: Cluster, masks: MaskStore) -> Mapping[int, list[Taint]]:
    """Return the taints of each tainted row of the device table; none where the cluster does not have the feature."""
    if not cluster.features.device_taints:
        return {}
    table = cluster.devices
    found: dict[int, list[Taint]] = {}
    for row in range(len(table.rows)):
        if table.rows.in_use(row):
            for taint in table.rows.traits_of(row).taints:
                found.setdefault(row, []).append(Taint(taint))
    names = [name for name, rule in table.taint_rules.items() if rule.taint.effect != "None"]
    for name, (taint, marked) in zip(names, TaintRules.of(table, masks).marked(), strict=True):
        for row in np.flatnonzero(marked).tolist():
            found.setdefault(row, []).append(Taint(taint, name))
    return found
