"""Contract 5: how a cycle ends.

    Bind      a node and devices were found. The cycle has assumed the pod and its claims in the tick in which it
              checked that what it had read is still so; the bind task writes what was assumed.
    Wait      what was decided stands, but cannot be carried out yet: `until` says what wakes the pod, `seconds` when
              waiting is given up, and what is assumed stays assumed meanwhile. Binding conditions, gangs, volumes with
              delayed binding and classic negotiation are all Waits. A bind task turns into one between the claims'
              status and the binding.
    Reject    the pod fits nowhere (`unschedulable`: it waits for an event that may help its plugins) or something is
              wrong (`error`: it is tried again after backoff). Per reason, how many nodes fell out.

A decision is data. Texts are made from it in `dra_scheduler.report`, writes in `dra_scheduler.binding`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dra_allocator.outcome import AllocationResult
from dra_allocator.rejection import Explain
from dra_scheduler.cycle.extended_resources import SpecialClaim
from dra_scheduler.plugins import Plugin

RejectKind = Literal["unschedulable", "error"]


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """What a bind task does with one claim of the pod.

    `allocation` is what the claim is to have in its status: a new allocation, or the one that another pod of ours has
    just decided. None: the claim is allocated already, only the reservation is missing; `found` is its allocation then,
    for which the node was chosen.
    """

    uid: str
    namespace: str
    name: str
    allocation: AllocationResult | None = None
    found: AllocationResult | None = None


@dataclass(frozen=True, slots=True)
class SpecialPlan:
    """The claim that a bind task makes for the pod's extended resources, and what it is to be allocated."""

    claim: SpecialClaim
    allocation: AllocationResult


@dataclass(frozen=True, slots=True)
class Bind:
    """The pod goes to `node` with these claims. `placed`: it is there already, only its claims are missing.

    `node_resources` are the entries of the pod's `status.nodeAllocatableResourceClaimStatuses`, to be written first.
    """

    node: str
    claims: tuple[ClaimPlan, ...]
    placed: bool = False
    special: SpecialPlan | None = None
    node_resources: tuple[Mapping[str, Any], ...] = ()

    @property
    def new_claims(self) -> tuple[str, ...]:
        """The claims (uids) whose allocation has been decided and not been written."""
        made = () if self.special is None else (self.special.claim.spec.uid,)
        return (*(plan.uid for plan in self.claims if plan.allocation is not None), *made)


@dataclass(frozen=True, slots=True)
class Wait:
    """The pod waits for events of the objects with these uids; `seconds` is what was left when it began to.

    `seconds` None: it waits without a limit of its own.
    """

    reason: str
    until: tuple[str, ...]
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Reject:
    """The pod stays where it is.

    `counts` maps kube-scheduler's reason texts to numbers of nodes (of `nodes`); `before_filters` is set instead when
    no node was looked at. `preemption` is the same for the question whether preemption helps, None if it was not
    asked. `explain` gives the data for our own explanation, on demand. `release` are claims (uids) whose allocation
    fits no node any more and may be given up if nobody uses them.
    """

    kind: RejectKind
    plugins: frozenset[Plugin]
    nodes: int
    counts: Mapping[str, int] = field(default_factory=dict)
    before_filters: str = ""
    error: str = ""
    preemption: Mapping[str, int] | str | None = None
    explain: Explain | None = None
    node_errors: Mapping[str, str] = field(default_factory=dict)
    release: tuple[str, ...] = ()


Decision = Bind | Reject
"""What a cycle returns."""
