"""What is audited: a snapshot, and the same in the scheduler's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_allocator.device import DeviceID
from dra_allocator.masks import MaskStore
from dra_api.references import POD
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.inventory.devices import MASK_BYTES
from dra_scheduler.inventory.holding import Holding, holdings
from dra_scheduler.inventory.tainting import Taint, taints_by_row
from dra_scheduler.survey.known import known
from dra_scheduler.survey.snapshot import Object, Snapshot


@dataclass(slots=True)
class Subject:
    """A cluster under audit. `pods` by namespace and name, `held` and `taints` as in the inventory."""

    snapshot: Snapshot
    cluster: Cluster
    problems: list[str]
    pods: Mapping[tuple[str, str], Object]
    held: Mapping[DeviceID, list[Holding]]
    taints: Mapping[int, list[Taint]]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Subject:
        """Read a snapshot into the tables."""
        cluster, problems = known(snapshot)
        pods = {(p["metadata"]["namespace"], p["metadata"]["name"]): p for p in snapshot.of(POD)}
        taints = taints_by_row(cluster, MaskStore(MASK_BYTES))
        return cls(snapshot, cluster, problems, pods, holdings(cluster), taints)


def has_ended(pod: Object) -> bool:
    """Whether a pod is past running: it uses nothing any more."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
