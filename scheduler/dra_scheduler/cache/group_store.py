"""PodGroups as observed, and which pods belong to each.

Pods and groups come on different streams, so a group may be known by its pods only, and a group may have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cache.pod_store import PodStore

Key = tuple[str, str]
"""Namespace and name of a PodGroup."""


class GroupStore:
    """All PodGroups and the uids of their pods that have not ended."""

    def __init__(self, pods: PodStore) -> None:
        self._pods = pods
        self._groups: dict[Key, PodGroup] = {}
        self._members: dict[Key, dict[str, None]] = {}

    def __iter__(self) -> Iterator[PodGroup]:
        return iter(self._groups.values())

    def get(self, key: Key) -> PodGroup | None:
        """Return the group of that name."""
        return self._groups.get(key)

    def of(self, pod: PodInfo) -> PodGroup | None:
        """Return the group that a pod belongs to; None: none, or it does not exist (yet)."""
        return self._groups.get(group_key(pod)) if pod.group else None

    def observe(self, group: PodGroup) -> PodGroup | None:
        """Take in a version of a group; returns the one known before."""
        before = self._groups.get(group.key)
        self._groups[group.key] = group
        return before

    def remove(self, key: Key) -> PodGroup | None:
        """The group is gone; its pods stay. Returns what was known of it."""
        return self._groups.pop(key, None)

    def add_pod(self, pod: PodInfo) -> None:
        """A pod was observed."""
        if pod.group:
            self._members.setdefault(group_key(pod), {})[pod.uid] = None

    def remove_pod(self, pod: PodInfo) -> None:
        """The pod is gone or has ended."""
        members = self._members.get(group_key(pod))
        if members is not None:
            members.pop(pod.uid, None)
            if not members:
                del self._members[group_key(pod)]

    def members(self, key: Key) -> list[PodInfo]:
        """Return the pods of a group, whoever schedules them, in the order in which they came."""
        pods = (self._pods.get(uid) for uid in self._members.get(key, ()))
        return [pod for pod in pods if pod is not None]

    def count(self, key: Key) -> int:
        """Return how many pods a group has."""
        return len(self._members.get(key, ()))

    def placed(self, key: Key) -> list[PodInfo]:
        """Return the pods of a group that have a node, or had one decided."""
        return [pod for pod in self.members(key) if pod.node_name or self._pods.assumed_node(pod.uid) is not None]

    def bound(self, key: Key) -> list[PodInfo]:
        """Return the pods of a group that have a node."""
        return [pod for pod in self.members(key) if pod.node_name]


def group_key(pod: PodInfo) -> Key:
    """Return the key of the pod's group."""
    return pod.namespace, pod.group
