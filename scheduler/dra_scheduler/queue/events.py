"""What happened in the cluster, as far as it may make a pod schedulable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dra_scheduler.cache.claim_store import ClaimChange
from dra_scheduler.cache.node_info import NodeInfo
from dra_scheduler.cache.pod_group import PodGroup
from dra_scheduler.cache.pod_info import PodInfo

Other = Literal["slice", "class", "taint-rule"]


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """A node was added (`before` None) or changed in something that filters look at."""

    before: NodeInfo | None
    after: NodeInfo


@dataclass(frozen=True, slots=True)
class NodeGone:
    """A node was deleted."""

    name: str


@dataclass(frozen=True, slots=True)
class PodLeft:
    """A pod that had a node, or had one decided, is no longer there, or takes less than it did (`pod`)."""

    pod: PodInfo


@dataclass(frozen=True, slots=True)
class PodPlaced:
    """A pod came to a node, was decided to, or changed its labels there."""

    pod: PodInfo


@dataclass(frozen=True, slots=True)
class ClaimChanged:
    """A claim came, went, or got another status."""

    change: ClaimChange


@dataclass(frozen=True, slots=True)
class DevicesChanged:
    """A ResourceSlice, DeviceClass or DeviceTaintRule came, went or changed."""

    what: Other


@dataclass(frozen=True, slots=True)
class NamespaceChanged:
    """A namespace came, or got other labels."""

    name: str


@dataclass(frozen=True, slots=True)
class GroupChanged:
    """A PodGroup came (`before` None) or changed."""

    before: PodGroup | None
    after: PodGroup


@dataclass(frozen=True, slots=True)
class GroupGone:
    """A PodGroup was deleted."""

    group: PodGroup


@dataclass(frozen=True, slots=True)
class MemberAdded:
    """A pod of a PodGroup came, or came to a node: it may be the one that the others were short of."""

    pod: PodInfo


@dataclass(frozen=True, slots=True)
class QuotaChanged:
    """A ResourceQuota of a namespace came, went or changed, or more or less of it is used."""

    namespace: str


ClusterEvent = (
    NodeChanged
    | NodeGone
    | PodLeft
    | PodPlaced
    | ClaimChanged
    | DevicesChanged
    | NamespaceChanged
    | QuotaChanged
    | GroupChanged
    | GroupGone
    | MemberAdded
)
