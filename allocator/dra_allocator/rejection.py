"""Why claims do not fit: data, not text. Texts are made from it by whoever shows it.

Names of other namespaces' claims are in `Holder`s only, so that a shower can leave them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dra_allocator.device import DeviceID

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
]


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many devices and nodes fell out of a request for one reason.

    `detail` tells reasons of a kind apart (`selector 2`, the taint's key, the attribute of a constraint, the pool).
    """

    reason: Reason
    devices: int
    nodes: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NearestMiss:
    """The node that came closest: it had `available` of `wanted` devices."""

    node: str
    wanted: int
    available: int


@dataclass(frozen=True, slots=True)
class RequestRejection:
    """Why one request (or subrequest: `request/subrequest`) does not fit, per reason, most devices first."""

    request: str
    wanted: int
    candidates: int
    reasons: tuple[ReasonCount, ...]
    nearest: NearestMiss | None = None


@dataclass(frozen=True, slots=True)
class ClaimRejection:
    """Why one claim does not fit. `in_use_by` are the claims (uids) that hold devices it could have had."""

    claim_uid: str
    claim: str
    requests: tuple[RequestRejection, ...]
    in_use_by: Mapping[str, tuple[DeviceID, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejection:
    """No node of those given can hold all claims.

    `explain` computes the explanation on first use (it may take milliseconds, so nobody pays for it unasked); it
    describes the view of the decision. `node_errors` maps the nodes that fell out by an error to its text.
    """

    nodes: int
    explain: Callable[[], tuple[ClaimRejection, ...]]
    node_errors: Mapping[str, str] = field(default_factory=dict)
