"""What talking to an API server raises, and whom it concerns.

SchedulerError
  ClientError
    ConnectError           the kubeconfig or what it points to is unusable: whoever starts the scheduler corrects it
    NoResourceApiError     the API server serves no resource.k8s.io that we know: the cluster's administrator
    ApiStatusError         the API server refused a request; the subclasses are what callers tell apart
      UnauthorizedError    401  the token or certificate is not accepted
      ForbiddenError       403  an RBAC rule is missing
      NotFoundError        404
      ConflictError        409  somebody else was faster: read again and decide anew
      GoneError            410  the resourceVersion is too old: list again
      InvalidError         422  the server does not accept the object
      TooManyRequestsError 429  not executed: wait and repeat
    ResponseError          the answer is not what an API server sends (too large, not JSON, not an object)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_scheduler.errors import SchedulerError


class ClientError(SchedulerError):
    """Base class of this package's errors."""


class ConnectError(ClientError):
    """There is no usable way to an API server: the message names the file and what to correct."""


class NoResourceApiError(ClientError):
    """Dynamic Resource Allocation is off, or served in a version that we do not know."""


class ResponseError(ClientError):
    """An answer that no API server gives; something between us and it answers instead, or the address is wrong."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of a Status' details: the field, the server's reason for it, and its text."""

    field: str
    reason: str
    message: str


class ApiStatusError(ClientError):
    """The API server answered with an error status.

    `reason` is the Status object's (`Conflict`, `AlreadyExists`, ...; empty when the answer is no Status),
    `retry_after` the seconds that the server asks us to wait, None if it does not say.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        causes: tuple[Cause, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {reason}: {message}" if reason else f"{status}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes
        self.retry_after = retry_after


class UnauthorizedError(ApiStatusError):
    """401: the credentials were refused, also after they were read anew."""


class ForbiddenError(ApiStatusError):
    """403: the message names verb and resource; the scheduler's role lacks the rule."""


class NotFoundError(ApiStatusError):
    """404: no such object, or no such resource."""


class ConflictError(ApiStatusError):
    """409: a stale resourceVersion, a failed precondition, or the object exists already."""


class GoneError(ApiStatusError):
    """410: the resourceVersion or the continue token is too old."""


class InvalidError(ApiStatusError):
    """422: `causes` name the fields."""


class TooManyRequestsError(ApiStatusError):
    """429: the request was not executed."""


BY_STATUS: Mapping[int, type[ApiStatusError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: TooManyRequestsError,
}
