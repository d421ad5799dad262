"""Claims resolved against DeviceClasses and features: what does not depend on a node.

The order of the checks is Kubernetes', so that the same mistake is reported: per claim and request the feature
gates, then what is not understood, then the class, then the number of devices; the claim's constraints last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dra_allocator.claim import Constraint, DeviceClass, DeviceRequest, ResourceClaim
from dra_allocator.errors import AttemptFailedError
from dra_allocator.features import Features
from dra_allocator.outcome import AllocationError, ErrorKind, RequestKind
from dra_allocator.selection import ClaimSelector, Selections
from dra_allocator.signature import Signature
from dra_allocator.table import Table

MAX_DEVICES = 32
"""Most devices in one claim's allocation (resource.k8s.io/v1 AllocationResultsMaxSize)."""


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """One request, or one subrequest of a prioritized list, with its class.

    `claim` and `request` count from 0; `alternative` counts the subrequests and is None for a plain request.
    `name` is what results say: `request` or `request/subrequest`. `selectors` has the class's first.
    """

    claim: int
    request: int
    alternative: int | None
    name: str
    parent: str
    spec: DeviceRequest
    device_class: DeviceClass
    selectors: tuple[ClaimSelector, ...]
    claim_name: str
    signature: Signature

    @property
    def is_all(self) -> bool:
        """Whether every matching device is wanted."""
        return self.spec.mode == "All"

    def failure(self, kind: ErrorKind, cause: str, *, node: bool = False) -> AttemptFailedError:
        """Return an error of this request to raise."""
        error = AllocationError(
            scope="node" if node else "pod", kind=kind, cause=cause, claim=self.claim_name, request=self.spec.name
        )
        return AttemptFailedError(error)


@dataclass(frozen=True, slots=True)
class ResolvedClaim:
    """A claim with its requests; each request is the tuple of its alternatives (one for a plain request)."""

    claim: ResourceClaim
    requests: tuple[tuple[ResolvedRequest, ...], ...]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The claim's constraints."""
        return self.claim.constraints


def resolve(table: Table, features: Features, claims: Sequence[ResourceClaim]) -> tuple[ResolvedClaim, ...]:
    """Resolve claims; raises AttemptFailedError for the first thing that is wrong."""
    return tuple(_Resolver(table, features, number, claim).resolve() for number, claim in enumerate(claims))


def display_name(claim: ResourceClaim) -> str:
    """Return `namespace/name`, without the namespace where there is none."""
    return f"{claim.namespace}/{claim.name}" if claim.namespace else claim.name


def covers(constraint_requests: Sequence[str], request: ResolvedRequest) -> bool:
    """Return whether a list of request names (none: all) names the request or its parent."""
    return not constraint_requests or request.parent in constraint_requests or request.name in constraint_requests


def check_limit(alternatives: Sequence[ResolvedRequest], counts: Sequence[int], total: int) -> int:
    """Return the least number of devices of a request; raises if that is too many beside `total` others."""
    least = min(counts)
    if least > MAX_DEVICES - total:
        cause = f"adding {least} devices exceeds the claim limit of {MAX_DEVICES}, with {total} already accounted for"
        first = alternatives[0]
        raise AttemptFailedError(
            AllocationError("pod", "too-many-devices", cause, claim=first.claim_name, request=first.parent)
        )
    return least


class _Resolver:
    """Resolves the requests of one claim."""

    def __init__(self, table: Table, features: Features, number: int, claim: ResourceClaim) -> None:
        self._table = table
        self._features = features
        self._number = number
        self._claim = claim
        self._name = display_name(claim)
        self._selections = Selections.of_table(table)

    def resolve(self) -> ResolvedClaim:
        """Return the claim with its classes."""
        requests = []
        total = 0
        for index, spec in enumerate(self._claim.requests):
            alternatives = tuple(self._alternatives(index, spec))
            total += check_limit(alternatives, [0 if one.is_all else one.spec.count for one in alternatives], total)
            requests.append(alternatives)
        for index, constraint in enumerate(self._claim.constraints):
            if constraint.unsupported is not None:
                cause = f"constraint #{index}: {constraint.unsupported}"
                raise AttemptFailedError(AllocationError("pod", "unsupported", cause, claim=self._name))
        return ResolvedClaim(self._claim, tuple(requests))

    def _alternatives(self, index: int, spec: DeviceRequest) -> Iterator[ResolvedRequest]:
        features = self._features
        if spec.first_available and not features.prioritized_list:
            cause = "has subrequests, but the DRAPrioritizedList feature is disabled"
            raise self._error(spec, "feature-disabled", cause)
        if spec.unsupported is not None:
            raise self._error(spec, "unsupported", spec.unsupported)
        subrequests = spec.first_available or (spec,)
        wanting = next((one for one in subrequests if one.capacity), None)
        if wanting is not None and not features.consumable_capacity:
            cause = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
            raise self._error(wanting, "feature-disabled", cause, "subrequest" if spec.first_available else "request")
        for position, one in enumerate(subrequests):
            device_class = self._check(one)
            selection = self._selections.of(one, device_class)
            yield ResolvedRequest(
                claim=self._number,
                request=index,
                alternative=position if spec.first_available else None,
                name=f"{spec.name}/{one.name}" if spec.first_available else spec.name,
                parent=spec.name,
                spec=one,
                device_class=device_class,
                selectors=selection.selectors,
                claim_name=self._name,
                signature=selection.signature,
            )

    def _check(self, spec: DeviceRequest) -> DeviceClass:
        features = self._features
        if spec.derived_attributes and not features.derived_attributes:
            cause = "has derived attributes, but the DRADerivedAttributes feature is disabled"
            raise self._error(spec, "feature-disabled", cause)
        if spec.unsupported is not None:
            raise self._error(spec, "unsupported", spec.unsupported)
        if spec.admin_access is not None and not features.admin_access:  # even false: the field is not known then
            cause = "admin access is requested, but the feature is disabled (DRAAdminAccess)"
            raise self._error(spec, "feature-disabled", cause)
        if not spec.device_class:
            raise self._error(spec, "unsupported", "missing device class name (unsupported request type?)")
        found = self._table.classes.get(spec.device_class)
        if found is None:
            cause = f"could not retrieve device class {spec.device_class}: not found"
            raise self._error(spec, "unknown-class", cause)
        if found[0].unsupported is not None:
            raise self._error(spec, "unsupported", f"device class {spec.device_class}: {found[0].unsupported}")
        return found[0]

    def _error(
        self, spec: DeviceRequest, kind: ErrorKind, cause: str, what: RequestKind = "request"
    ) -> AttemptFailedError:
        error = AllocationError("pod", kind, cause, claim=self._name, request=spec.name, request_kind=what)
        return AttemptFailedError(error)
