"""The cluster as known: every observed object goes through here, into the tables and on to whoever listens.

Observations come from reflectors as (old, new) pairs of raw v1 objects and from the answers to our own writes. All of
it happens on the event loop, without an await in between: whoever reads between two awaits reads one consistent state.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

from dra_allocator.features import Features
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import AllocationResult
from dra_allocator.table import Table
from dra_allocator.taint_check import TaintCheck
from dra_allocator.view import View
from dra_api import decode
from dra_scheduler.cache.claim_store import ClaimChange, ClaimStore
from dra_scheduler.cache.device_classes import DeviceClasses
from dra_scheduler.cache.group_store import GroupStore
from dra_scheduler.cache.node_info import node_info
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_group import pod_group
from dra_scheduler.cache.pod_info import PodInfo, pod_info
from dra_scheduler.cache.pod_store import PodStore
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.queue.events import (
    ClaimChanged,
    ClusterEvent,
    DevicesChanged,
    GroupChanged,
    GroupGone,
    MemberAdded,
    NamespaceChanged,
    NodeChanged,
    NodeGone,
    PodLeft,
    PodPlaced,
    QuotaChanged,
)
from dra_scheduler.versions import version_number, version_of

Raw = Mapping[str, Any]
_log = logging.getLogger(__name__)


class Listener(Protocol):
    """Who is told of what changed, in the same tick."""

    def pod_seen(self, pod: PodInfo, before: PodInfo | None) -> None:
        """A pod that has not ended was observed."""
        ...

    def pod_gone(self, pod: PodInfo) -> None:
        """A pod was deleted or has ended."""
        ...

    def happened(self, event: ClusterEvent) -> None:
        """Something that may make pods schedulable."""
        ...


@dataclass(frozen=True, slots=True)
class _Entry:
    """How objects of one kind come into the device table and out of it."""

    read: Callable[[dict[str, Any]], Any]
    put: Callable[[Any], None]
    remove: Callable[[str], None]


class Cluster:
    """All that is known, and the handlers that keep it so.

    `apply_*` take what a reflector hands over (of `old` only the metadata counts). They raise an ApiError if the object
    cannot be read, before they change anything; the reflector then reports it, and takes away what was known of it.
    """

    def __init__(self, features: Features, gates: FeatureGates | None = None) -> None:
        self.features = features
        self.gates = gates or FeatureGates.having(features)
        self.devices = Table()
        self.ledger = Ledger()
        self.taints = TaintCheck(self.devices)
        self.nodes = NodeTable()
        self.pods = PodStore(self.nodes)
        self.groups = GroupStore(self.pods)
        self.claims = ClaimStore(self.ledger)
        self._unseen_claims: set[str] = set()
        """Claims (uids) that we have created and no list or watch has brought yet."""
        self.classes = DeviceClasses()
        self.namespaces: dict[str, Mapping[str, str]] = {}
        """Labels of namespaces, by name."""
        self.namespaces_version = 0
        self.listener: Listener | None = None

    def use(self, gates: FeatureGates) -> None:
        """Take these feature gates from now on; said once the server's version is known, before anything is read."""
        self.gates, self.features = gates, gates.features()
        self.claims.group_owners = gates.enabled("DRAWorkloadResourceClaims")

    def view(self) -> View:
        """Return the window for one attempt to allocate."""
        return View(self.devices, self.ledger, self.features)

    # Observations

    def apply_pod(self, old: Raw | None, new: Raw | None) -> None:
        """A pod was added, changed or (new None) deleted."""
        raw = new if new is not None else old
        if raw is None:
            return
        uid = raw["metadata"]["uid"]
        if old is not None and old["metadata"]["uid"] != uid:
            self._pod_gone(old["metadata"]["uid"])
        if new is None:
            self._pod_gone(uid)
            return
        if self.pods.is_stale(new):
            return
        pod = pod_info(new)
        if pod.terminal:
            self._pod_gone(uid)
            return
        replaced = self.pods.uid_of(*pod.key)
        if replaced is not None and replaced != uid:
            self._pod_gone(replaced)
        decided = self.pods.assumed_node(uid)
        before = self.pods.observe(pod)
        if before is None:
            self.groups.add_pod(pod)
        if self.listener is not None:
            self.listener.pod_seen(pod, before)
        self._tell_seen(pod, before, decided)

    def apply_pod_group(self, old: Raw | None, new: Raw | None) -> None:
        """A PodGroup was added, changed or deleted."""
        if old is not None and (new is None or old["metadata"]["uid"] != new["metadata"]["uid"]):
            gone = self.groups.remove((old["metadata"]["namespace"], old["metadata"]["name"]))
            if gone is not None:
                self._tell(GroupGone(gone))
        if new is not None:
            group = pod_group(new)
            self._tell(GroupChanged(self.groups.observe(group), group))

    def apply_node(self, old: Raw | None, new: Raw | None) -> None:
        """A node was added, changed or deleted."""
        if new is None:
            if old is not None:
                name = old["metadata"]["name"]
                self.devices.remove_node(name)
                self.nodes.remove_node(name)
                self._tell(NodeGone(name))
            return
        info, node = node_info(new), decode.node(dict(new))
        before = self.nodes.info(info.name)
        if before == info:
            return
        self.devices.apply_node(node)
        number = self.devices.node_id(info.name)
        self.nodes.set_node(info, -1 if number is None else number)
        self._tell(NodeChanged(before, info))

    def apply_namespace(self, old: Raw | None, new: Raw | None) -> None:
        """A namespace was added, changed or deleted."""
        self.namespaces_version += 1
        if new is not None:
            name, labels = new["metadata"]["name"], new["metadata"].get("labels") or {}
            before, self.namespaces[name] = self.namespaces.get(name), labels
            if before != labels:
                self._tell(NamespaceChanged(name))
        elif old is not None:
            self.namespaces.pop(old["metadata"]["name"], None)

    def apply_quota(self, old: Raw | None, new: Raw | None) -> None:
        """A ResourceQuota was added, changed or deleted; what it says is the API server's business."""
        known = new if new is not None else old
        if known is not None:
            self._tell(QuotaChanged(known["metadata"]["namespace"]))

    def apply_claim(self, old: Raw | None, new: Raw | None) -> None:
        """A claim was added, changed or deleted."""
        if old is not None and (new is None or old["metadata"]["uid"] != new["metadata"]["uid"]):
            self._claim_gone(old["metadata"]["uid"])
        if new is not None:
            self.learn_claim(new, new=True)
            self._unseen_claims.discard(new["metadata"]["uid"])

    def claims_listed(self, present: Set[tuple[str, str]], version: str) -> None:
        """All claims (namespace, name) were listed as of a resourceVersion.

        One that is known from the answer to its creation only, and was deleted while no watch told of it, goes.
        """
        as_of = version_number(version)
        for claim in [self.claims.by_uid(uid) for uid in self._unseen_claims]:
            if claim is not None and claim.key not in present and version_of(claim.raw) <= as_of:
                self._claim_gone(claim.uid)

    def apply_slice(self, old: Raw | None, new: Raw | None) -> None:
        """A ResourceSlice was added, changed or deleted."""
        self._apply(old, new, _Entry(decode.resource_slice, self.devices.apply_slice, self.devices.remove_slice))
        self._tell(DevicesChanged("slice"))

    def apply_class(self, old: Raw | None, new: Raw | None) -> None:
        """A DeviceClass was added, changed or deleted."""
        self._apply(old, new, _Entry(decode.device_class, self.devices.apply_class, self.devices.remove_class))
        known = new if new is not None else old
        if known is not None:
            self.classes.apply(known["metadata"]["name"], new)
        self._tell(DevicesChanged("class"))

    def apply_taint_rule(self, old: Raw | None, new: Raw | None) -> None:
        """A DeviceTaintRule was added, changed or deleted."""
        table = self.devices
        self._apply(old, new, _Entry(decode.taint_rule, table.apply_taint_rule, table.remove_taint_rule))
        self._tell(DevicesChanged("taint-rule"))

    def learn_claim(self, raw: Raw, *, new: bool = False) -> None:
        """Take in a claim as the API server answered it, from a watch or to a write of ours.

        `new`: it may be one that is not known. To a change of one that is known the answer may come after the event
        that the claim is gone, and then no other event would ever take it away again.
        """
        if not new and self.claims.by_uid(raw["metadata"]["uid"]) is None:
            return
        change = self.claims.observe(raw)
        if change is not None and change.added:
            self._unseen_claims.add(change.claim.uid)
        if change is not None and change.claim.problem:
            _log.warning("object cannot be read: %s", change.claim.problem)
        self._claim_changed(change)

    # Decisions

    def assume(
        self,
        pod_uid: str,
        node: str,
        allocations: Iterable[tuple[str, AllocationResult]],
        node_resources: Sequence[Raw] = (),
        *,
        tell: bool = True,
    ) -> None:
        """A pod was decided: it goes to the node, with these new allocations (claim uid, result).

        `node_resources` are the entries of its status to be that say what its devices take of the node. `tell` False:
        so far it is only tried, and nobody is told (`tell_placed` does it later).
        """
        self.pods.assume(pod_uid, node, node_resources)
        if tell:
            self.tell_placed(pod_uid)
        for uid, allocation in allocations:
            self.claims.assume(uid, allocation, pod_uid)

    def assume_claims(self, pod_uid: str, allocations: Iterable[tuple[str, AllocationResult]]) -> None:
        """Allocations were decided for a pod that has its node already."""
        for uid, allocation in allocations:
            self.claims.assume(uid, allocation, pod_uid)

    def forget(self, pod: PodInfo, claims: Iterable[str], *, tell: bool = True) -> None:
        """The exact inverse of `assume`, as far as it has not been confirmed meanwhile."""
        for uid in claims:
            change = self.claims.unexpect(uid) or self.claims.forget(uid, pod.uid)
            if tell:
                self._claim_changed(change)
        if self.pods.forget(pod.uid) and tell:
            self._tell(PodLeft(pod))

    def tell_placed(self, pod_uid: str) -> None:
        """Say that a pod was decided."""
        pod = self.pods.get(pod_uid)
        if pod is not None:
            self._tell(PodPlaced(pod))

    def _tell_seen(self, pod: PodInfo, before: PodInfo | None, decided: str | None) -> None:
        """Say what an observed pod means for others; `decided` is the node that was decided for it."""
        if pod.node_name and (before is None or (before.node_name, before.labels) != (pod.node_name, pod.labels)):
            self._tell(PodPlaced(pod))
        if before is not None and before.node_name and _takes_less(pod, before):
            self._tell(PodLeft(before))
        if decided is not None and pod.node_name not in ("", decided):
            # Somebody else has bound it: the node where it was to go has room again.
            self._tell(PodLeft(pod))
        if pod.group and (before is None or (pod.node_name and not before.node_name)):
            self._tell(MemberAdded(pod))

    def _pod_gone(self, uid: str) -> None:
        placed = self.pods.assumed_node(uid) is not None
        pod = self.pods.remove(uid)
        if pod is None:
            return
        self.groups.remove_pod(pod)
        if self.listener is not None:
            self.listener.pod_gone(pod)
        if placed or pod.node_name:
            self._tell(PodLeft(pod))

    def _claim_gone(self, uid: str) -> None:
        self._unseen_claims.discard(uid)
        self._claim_changed(self.claims.remove(uid))

    def _claim_changed(self, change: ClaimChange | None) -> None:
        if change is not None:
            self._tell(ClaimChanged(change))

    def _apply(self, old: Raw | None, new: Raw | None, entry: _Entry) -> None:
        if new is not None:
            entry.put(entry.read(dict(new)))
        elif old is not None:
            entry.remove(old["metadata"]["name"])

    def _tell(self, event: ClusterEvent) -> None:
        if self.listener is not None:
            self.listener.happened(event)


def _takes_less(pod: PodInfo, before: PodInfo) -> bool:
    """Whether a pod was made smaller where it is (in-place resize, KEP-1287)."""
    return any(pod.requests.get(name, 0) < amount for name, amount in before.requests.items())
