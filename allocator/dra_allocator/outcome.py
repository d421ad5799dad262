"""Contract 1: how an allocation attempt ends.

    Allocation        devices were found: which, on which node, what to write
    Rejection         the claims do not fit: data about why, no exception, nothing wrong with anybody's input
    AllocationError   something is wrong (a selector failed at run time, a class is missing, ...): scope says whether
                      one node or the whole pod is concerned, the rest says whose fault it is
    OutOfBudget       the attempt as a whole ran out of the time that it was given

Kubernetes tells 'does not fit' from an error, and some errors concern one node only. Over many nodes a run-time error
of a selector makes that node infeasible and is reported in `node_errors` (a deviation of ours: Kubernetes gives up on
the pod); an error that no node escapes is the pod's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dra_allocator.claim import OpaqueConfig, Toleration
from dra_allocator.device import DeviceID
from dra_allocator.node import NodeSelector
from dra_allocator.rejection import Explain, Rejection
from dra_cel.quantity import Quantity

INVALID_POOLS = "invalid resource pools were encountered"
"""What an error of kind invalid-pool begins with if it is the node's (Kubernetes' words); the pools follow."""
ErrorScope = Literal["node", "pod"]
RequestKind = Literal["request", "subrequest"]
ErrorKind = Literal[
    "selector-compile",
    "selector-runtime",
    "derived-attribute",
    "unknown-class",
    "unsupported",
    "feature-disabled",
    "incomplete-pool",
    "invalid-pool",
    "too-many-devices",
    "capacity",
    "other",
]


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """One entry of `allocation.devices.results`. `request` is `name` or `name/subrequest`."""

    request: str
    device: DeviceID
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()
    share_id: str | None = None
    consumed_capacity: Mapping[str, Quantity] = field(default_factory=dict)
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    skip_node_operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigResult:
    """One entry of `allocation.devices.config`."""

    source: Literal["FromClass", "FromClaim"]
    config: OpaqueConfig


@dataclass(frozen=True, slots=True)
class AllocationResult:
    """What is written into one claim's `status.allocation`. `node_selector` None: usable on every node."""

    devices: tuple[DeviceResult, ...]
    config: tuple[ConfigResult, ...] = ()
    node_selector: NodeSelector | None = None


@dataclass(frozen=True, slots=True)
class ClaimAllocation:
    """A claim's uid and what it gets."""

    claim_uid: str
    result: AllocationResult


@dataclass(frozen=True, slots=True)
class AllocationError:
    """Something is wrong; `str()` names claim, request, device and cause as far as each is known.

    `kind` tells causes apart for programs, `cause` is the text for people. `scope` node: other nodes may still do.
    An attempt that ends with an error has `explain`, as a Rejection has.
    """

    scope: ErrorScope
    kind: ErrorKind
    cause: str
    claim: str = ""
    request: str = ""
    device: DeviceID | None = None
    device_class: str = ""
    request_kind: RequestKind = "request"
    explain: Explain | None = field(default=None, compare=False, repr=False)

    @property
    def is_unschedulable(self) -> bool:
        """Whether the claims do not fit on a node and it has an invalid pool: nothing is wrong with them.

        Mode All cannot be served with an invalid pool at all: that names its request.
        """
        return self.kind == "invalid-pool" and not self.request

    def __str__(self) -> str:
        parts = []
        if self.claim:
            parts.append(f"claim {self.claim}")
        if self.request:
            parts.append(f"{self.request_kind} {self.request}")
        if self.device_class:
            parts.append(f"class {self.device_class}")
        if self.device is not None:
            parts.append(f"device {self.device}")
        return ", ".join(parts) + (": " if parts else "") + self.cause


@dataclass(frozen=True, slots=True)
class Stamp:
    """The versions of what a decision read, by key (a pool, the ledger's devices of a pool, a class, a node)."""

    versions: Mapping[object, int]


@dataclass(frozen=True, slots=True)
class Allocation:
    """All claims fit on `node`, in the order in which they were given.

    `stamp` says which state the decision read (contract 2): whoever commits asks `View.unchanged(stamp)` in the very
    tick in which it assumes, and decides anew if the answer is no. `node_errors` are the errors of nodes tried before.
    """

    node: str
    claims: tuple[ClaimAllocation, ...]
    stamp: Stamp
    node_errors: Mapping[str, AllocationError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutOfBudget:
    """The attempt's own limit was reached after `nodes_tried` nodes; nothing is known about the others."""

    nodes_tried: int
    nodes: int


Outcome = Allocation | Rejection | AllocationError | OutOfBudget
