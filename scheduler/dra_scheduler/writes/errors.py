"""What a write may end in.

SchedulerError
  WriteError
    NotWriterError          we may not write now (`may_write` says so): nothing was sent
    ClaimLostError          the claim is no longer what the decision was made for: decide anew
    AnswerDiffersError      the API server dropped a field: a feature gate is off there
    ClaimRefusedError       the API server refuses to create a claim: quota, admission, or the scheduler's role
    StatusDroppedError      the API server dropped a field of a pod's status: a feature gate is off there
    BindingPermissionError  the role lacks `resourceclaims/binding`: the cluster's administrator
    BindLostError           the pod is gone, or is bound to another node
    UnknownOutcomeError     no answer, and looking it up failed too: nothing may be concluded
"""

from __future__ import annotations

from dra_scheduler.errors import SchedulerError


class WriteError(SchedulerError):
    """Base class of this package's errors. What the API server refuses otherwise is a `client.ApiStatusError`."""


class NotWriterError(WriteError):
    """Nothing was sent, because this process may not write now: somebody else may be the scheduler."""


class ClaimLostError(WriteError):
    """The claim changed so that the decision does not hold: deleted, allocated otherwise, deallocated, full.

    `claim` is namespace/name; nothing of the decision is in force.
    """

    def __init__(self, claim: str, problem: str) -> None:
        super().__init__(f"ResourceClaim {claim}: {problem}")
        self.claim = claim
        self.problem = problem


class AnswerDiffersError(WriteError):
    """The API server stored another allocation than the one sent; it has been undone, the pod must not be bound.

    `field` is the path of the first difference below `status.allocation`, `gate` the feature gate of the API server
    that has to be on for it (None: no gate is known for that field).
    """

    def __init__(self, claim: str, field: str, gate: str | None) -> None:
        hint = f"switch on the feature gate {gate} on the API server" if gate else "no feature gate is known for it"
        super().__init__(f"ResourceClaim {claim}: the API server changed status.allocation.{field}; {hint}")
        self.claim = claim
        self.field = field
        self.gate = gate


class ClaimRefusedError(WriteError):
    """The claim for a pod's extended resources was not made; `message` is the API server's reason.

    A quota or an admission policy of the cluster says so, or the scheduler's role lacks the right: whoever is
    responsible for those can help, and another attempt may succeed then.
    """

    def __init__(self, namespace: str, name: str, message: str) -> None:
        super().__init__(f"create claim for extended resources {namespace}/{name}: {message}")
        self.message = message


class StatusDroppedError(WriteError):
    """The API server did not store `field` of the pod's status; it must not be bound without it."""

    def __init__(self, pod: str, field: str, gate: str) -> None:
        super().__init__(
            f"pod {pod}: the API server dropped status.{field}; switch on the feature gate {gate} on the API server"
        )
        self.gate = gate


class BindingPermissionError(WriteError):
    """Kubernetes 1.36 and later: the right to change allocations is missing (gate ...GranularStatusAuthorization)."""

    def __init__(self, claim: str, message: str) -> None:
        super().__init__(
            f"ResourceClaim {claim}: {message}; give the scheduler's service account the verbs update and patch on "
            f"resourceclaims/binding (group resource.k8s.io) with a ClusterRole and a ClusterRoleBinding (a Role in a "
            f"namespace does not count)"
        )
        self.claim = claim


class BindLostError(WriteError):
    """The pod cannot be bound any more: deleted, replaced by another of its name, or bound elsewhere."""


class UnknownOutcomeError(WriteError):
    """Whether the write took effect is not known and could not be looked up: keep what is assumed, ask again later."""
