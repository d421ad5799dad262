"""Pods as observed, and where we have decided that they go.

    pending --assume(node)--> assumed --confirm: observed with a node--> on its node
       ^                        |
       +------- forget ---------+         any state --deleted or ended--> gone

* An assumed pod counts on its node as if it were there. It never expires: its bind task forgets it, or it is observed.
* A stale event (older resourceVersion than known) changes nothing; neither does one of an assumed pod without a node.
* A pod observed on another node than the assumed one is there: somebody else has bound it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import PodInfo, with_node_resources
from dra_scheduler.versions import is_stale


class PodStore:
    """All pods that have not ended; keeps the node table's sums in step."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._pods: dict[str, PodInfo] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self._placed: dict[str, tuple[str, PodInfo]] = {}
        self._assumed: dict[str, tuple[str, Sequence[Mapping[str, Any]]]] = {}
        self.placements = 0
        """Changes with every pod that comes to a node or leaves one."""
        self.repelling: dict[str, tuple[str, PodInfo]] = {}
        """Placed pods with required anti-affinity and their nodes, by uid."""

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[PodInfo]:
        return iter(self._pods.values())

    def get(self, uid: str) -> PodInfo | None:
        """Return the newest version of a pod."""
        return self._pods.get(uid)

    def uid_of(self, namespace: str, name: str) -> str | None:
        """Return the uid of the pod that has that name now."""
        return self._uids.get((namespace, name))

    def placed(self) -> Iterable[tuple[str, PodInfo]]:
        """Return the pods that have a node, or had one decided, with it."""
        return self._placed.values()

    def assumed_node(self, uid: str) -> str | None:
        """Return the node that was decided for a pod and is not confirmed."""
        assumed = self._assumed.get(uid)
        return None if assumed is None else assumed[0]

    def is_stale(self, raw: Mapping[str, Any]) -> bool:
        """Whether a newer version of this pod is known already."""
        known = self._pods.get(raw["metadata"]["uid"])
        return known is not None and is_stale(raw, known.raw)

    def observe(self, pod: PodInfo) -> PodInfo | None:
        """Take in a version of a pod that has not ended; returns the one known before."""
        before = self._pods.get(pod.uid)
        self._pods[pod.uid] = pod
        self._uids[pod.key] = pod.uid
        if pod.node_name:
            self._assumed.pop(pod.uid, None)
            self._place(pod, pod.node_name)
        elif pod.uid in self._assumed:
            node, resources = self._assumed[pod.uid]
            self._place(with_node_resources(pod, resources), node)
        return before

    def remove(self, uid: str) -> PodInfo | None:
        """The pod is gone or has ended; returns what was known of it."""
        pod = self._pods.pop(uid, None)
        if pod is None:
            return None
        if self._uids.get(pod.key) == uid:
            del self._uids[pod.key]
        self._assumed.pop(uid, None)
        self._unplace(uid)
        return pod

    def assume(self, uid: str, node: str, node_resources: Sequence[Mapping[str, Any]] = ()) -> None:
        """The pod was decided to go to the node; its devices take so much of it (entries of its status to be)."""
        self._assumed[uid] = node, node_resources
        self._place(with_node_resources(self._pods[uid], node_resources), node)

    def forget(self, uid: str) -> bool:
        """The decision is void; false if it has been confirmed, or the pod is gone."""
        if self._assumed.pop(uid, None) is None:
            return False
        self._unplace(uid)
        return True

    def _place(self, pod: PodInfo, node: str) -> None:
        placed = self._placed.get(pod.uid)
        if placed is not None and placed[0] == node and _same_load(placed[1], pod):
            return
        self._unplace(pod.uid)
        self.placements += 1
        self._nodes.add_pod(node, pod)
        self._placed[pod.uid] = node, pod
        if pod.affinity.apart:
            self.repelling[pod.uid] = node, pod

    def _unplace(self, uid: str) -> None:
        self.repelling.pop(uid, None)
        placed = self._placed.pop(uid, None)
        if placed is not None:
            self.placements += 1
            self._nodes.remove_pod(*placed)


def _same_load(one: PodInfo, other: PodInfo) -> bool:
    """Whether filters see no difference between two versions of a placed pod."""
    return (one.requests, one.ports, one.scored_cpu, one.scored_memory, one.priority, one.labels, one.affinity) == (
        other.requests,
        other.ports,
        other.scored_cpu,
        other.scored_memory,
        other.priority,
        other.labels,
        other.affinity,
    )
