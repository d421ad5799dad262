"""What we decided about a pod, what the cluster's scheduler did, and how the two compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Devices = Mapping[str, tuple[str, ...]]
"""Devices (`request=driver/pool/device`, sorted) by the name of the claim."""

Kind = Literal[
    "same", "other-devices", "other-node", "first", "only-ours", "only-theirs", "not-evaluated", "unanswered", "gone"
]

KINDS: Mapping[Kind, str] = {
    "same": "the same node and the same devices",
    "other-devices": "the same node with other devices, which do by our rules too",
    "other-node": "another node, which does by our rules too",
    "first": "the cluster's scheduler was there before we decided, on a node that does by our rules too",
    "only-ours": "we found devices, the cluster's scheduler says that the pod fits nowhere",
    "only-theirs": "the cluster's scheduler chose a node that does not do by our rules",
    "not-evaluated": "the pod asks for what we do not evaluate",
    "unanswered": "the cluster's scheduler has not said anything about the pod for long",
    "gone": "the pod was deleted before the cluster's scheduler decided",
}
"""How two decisions compare."""
SERIOUS: frozenset[Kind] = frozenset({"only-ours", "only-theirs"})
"""Differences in what is possible, not in what is preferred."""


@dataclass(slots=True)
class Opinion:
    """Our newest decision about a pod: a node with devices for claims that are new, or a refusal.

    `ready_at` is when the pod could first be decided, `said` the other scheduler's condition when we decided.
    `new_claims` are the uids of claims that we assume to be allocated.
    """

    namespace: str
    name: str
    scheduler: str
    ready_at: float
    decided_at: float
    node: str = ""
    devices: Devices = field(default_factory=dict)
    new_claims: tuple[str, ...] = ()
    refusal: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """The two decisions about one pod; `text` says what speaks against theirs, or ours."""

    kind: Kind
    namespace: str
    name: str
    scheduler: str
    our_node: str = ""
    our_devices: Devices = field(default_factory=dict)
    their_node: str = ""
    their_devices: Devices = field(default_factory=dict)
    text: str = ""
    our_seconds: float | None = None
    their_seconds: float | None = None
