"""Why claims do not fit: data, not text. Texts are made from it by whoever shows it.

Names of other namespaces' claims are not in it: claims that hold devices are uids, so that a shower decides whom it
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from dra_allocator.device import DeviceID
from dra_allocator.facts import Fact

Reason = Literal[
    "no-class",
    "no-device-visible",
    "class-selector",
    "claim-selector",
    "selector-error",
    "not-evaluated",
    "unsupported-device",
    "tainted",
    "in-use",
    "counters",
    "capacity",
    "constraint",
    "compatibility-groups",
    "node-features",
    "incomplete-pool",
    "invalid-pool",
    "too-few",
    "too-many",
    "several-rules",
]


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many devices and nodes fell out of a request for one reason.

    `detail` tells reasons of a kind apart (`selector 2`, the taint's key, the attribute of a constraint, the pool);
    `facts` say what exactly was missing, as far as that is known.
    """

    reason: Reason
    devices: int
    nodes: int
    detail: str = ""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class NearestMiss:
    """The node that came closest: it had `available` of `wanted` devices; `lost` are its other devices by reason."""

    node: str
    wanted: int
    available: int
    lost: Mapping[Reason, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RequestRejection:
    """Why one request (or subrequest: `request/subrequest`) does not fit, per reason, most devices first.

    Attributes:
        wanted: devices, on one node; in mode All as many as the node with most of them has.
        candidates: devices that are left, on all nodes together.
        reasons: why the others fell out.
        nearest: the node that came closest; None: some node has enough for this request alone.
        device_class: name of the class.
        of_class: devices that the nodes see, are usable, and are of the class.
        nodes_enough: nodes that have enough devices for this request alone.
        is_all: all devices are wanted.
        most_of_class: the most devices of the class that one of the nodes has, taken or not.
        in_use_by: claims (uids) that hold devices which the request could have had; see ClaimRejection.
        more_in_use: devices in use whose holders were not looked up.

    """

    request: str
    wanted: int
    candidates: int
    reasons: tuple[ReasonCount, ...]
    nearest: NearestMiss | None = None
    device_class: str = ""
    of_class: int = 0
    nodes_enough: int = 0
    is_all: bool = False
    most_of_class: int = 0
    in_use_by: Mapping[str, tuple[DeviceID, ...]] = field(default_factory=dict)
    more_in_use: int = 0


@dataclass(frozen=True, slots=True)
class ClaimRejection:
    """Why one claim does not fit. `in_use_by` are the claims (uids) that hold devices it could have had.

    Holders are looked up for some hundred devices only, those of the nearest node first; `more_in_use` counts the
    devices in use whose holders were not looked up.
    """

    claim_uid: str
    claim: str
    requests: tuple[RequestRejection, ...]
    in_use_by: Mapping[str, tuple[DeviceID, ...]] = field(default_factory=dict)
    more_in_use: int = 0


@dataclass(frozen=True, slots=True)
class Together:
    """Why the claims do not fit where each request alone has enough devices: a rule about the choice as a whole.

    Attributes:
        reason: the rule without which the claims would fit; `too-few`: the requests want the same devices.
        nodes: nodes where that is so, among the `looked_at` nodes that were searched.
        looked_at: the nodes with most devices are searched, a few of them.
        claim: the claim whose constraint it is, "" for rules about all claims.
        requests: names of the requests that the rule covers.
        node: the node that the facts are from.
        detail: as in ReasonCount.

    """

    reason: Reason
    nodes: int
    looked_at: int
    claim: str = ""
    requests: tuple[str, ...] = ()
    node: str = ""
    detail: str = ""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Nodes that were not asked, because something else than devices speaks against them, and have enough devices.

    `names` are the first of them; `why` counts nodes by what speaks against them, where the asker knows it, and
    `who` names the first of those.
    """

    nodes: int
    names: tuple[str, ...]
    why: Mapping[str, int] = field(default_factory=dict)
    who: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A claim of the pod that is allocated, and so ties the pod to the nodes that can reach its devices.

    `nodes` are the names of the first of those, `count` how many there are, `why` what speaks against them.
    """

    claim: str
    devices: tuple[DeviceID, ...]
    nodes: tuple[str, ...]
    count: int
    why: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Missing:
    """An object that is not there: its kind and name, the claim and request that name it, and the nearest name.

    `template`: the claim is to be made from this ResourceClaimTemplate, and `name` is what the pod calls it.
    """

    kind: str
    name: str
    claim: str = ""
    request: str = ""
    suggestion: str = ""
    others: tuple[str, ...] = ()
    template: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that is known about why claims do not fit on any of `nodes` nodes.

    Attributes:
        nodes: number of nodes asked.
        claims: per claim and request how many devices fell out for which reason.
        together: rules about the choice as a whole, where every request alone has enough devices.
        nodes_enough: nodes where that is so.
        nearest: the node that came closest to all claims, with what it has of each request.
        elsewhere: nodes with enough devices that were not asked; None: there are none.
        pinned: claims of the pod that are allocated already and tie it to nodes that were not asked.
        missing: objects that are not there.
        left_out: requests that were not looked at, because there are too many different ones.
        fits_on: a node where the claims fit after all: something changed since the decision.

    """

    nodes: int
    claims: tuple[ClaimRejection, ...] = ()
    together: tuple[Together, ...] = ()
    nodes_enough: int = 0
    nearest: str = ""
    elsewhere: Elsewhere | None = None
    pinned: tuple[Pinned, ...] = ()
    missing: tuple[Missing, ...] = ()
    fits_on: str = ""
    left_out: int = 0


class Explain(Protocol):
    """Explains a rejection; made when it is called, and remembered."""

    def __call__(self, node: str | None = None, /) -> Explanation:
        """Return why the claims fit nowhere, or why not on one node, as if only that had been asked."""
        ...


@dataclass(frozen=True, slots=True)
class Rejection:
    """No node of those given can hold all claims.

    `explain` computes the explanation on first use (it may take milliseconds, so nobody pays for it unasked); it
    describes the view of the decision. `node_errors` maps the nodes that fell out by an error to its text.
    """

    nodes: int
    explain: Explain
    node_errors: Mapping[str, str] = field(default_factory=dict)
