"""The server's refusals: `Status` objects of the API (meta/v1), one constructor a reason.

Raised inside the server as StatusError and answered as its body. Reasons, codes, details and causes are the real API
server's; where a message is read by people only, its wording is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dra_api.validation import FieldError
from dra_embedded.errors import EmbeddedError

STALE_VERSION = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True)
class Cause:
    """An entry of status.details.causes that is no field error (for example NamespaceTerminating)."""

    reason: str
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Subject:
    """What a refusal is about: the group and, by the server's custom, either the plural or the kind."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class StatusError(EmbeddedError):
    """The API server refuses the request; `code` is the HTTP status, `body()` the Status object.

    Caused by the request; the message says what is wrong with it.
    """

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.continue_token: str | None = None

    def body(self) -> dict[str, Any]:
        """The Status object of the answer."""
        metadata = {"continue": self.continue_token} if self.continue_token else {}
        status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure"}
        status["message"] = self.message
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(subject: Subject, name: str = "") -> dict[str, Any]:
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if subject.group:
        details["group"] = subject.group
    if subject.kind:
        details["kind"] = subject.kind
    return details


def not_found(subject: Subject, name: str) -> StatusError:
    """404 NotFound."""
    return StatusError(404, "NotFound", f'{subject} "{name}" not found', _details(subject, name))


def already_exists(subject: Subject, name: str, *, being_deleted: bool = False, generated: bool = False) -> StatusError:
    """409 AlreadyExists; a generated name that is taken asks the client to try again."""
    message = f'{subject} "{name}" already exists'
    details = _details(subject, name)
    if generated:
        message += ", the server was not able to generate a unique name for the object"
        details["retryAfterSeconds"] = 1
    if being_deleted:
        message = "object is being deleted: " + message
    return StatusError(409, "AlreadyExists", message, details)


def conflict(subject: Subject, name: str, why: str) -> StatusError:
    """409 Conflict."""
    message = f'Operation cannot be fulfilled on {subject} "{name}": {why}'
    return StatusError(409, "Conflict", message, _details(subject, name))


def forbidden(subject: Subject, name: str, why: str, causes: Sequence[Cause] = ()) -> StatusError:
    """403 Forbidden."""
    quoted = f' "{name}"' if name else ""
    details = _details(subject, name)
    if causes:
        details["causes"] = _causes(causes)
    return StatusError(403, "Forbidden", f"{subject}{quoted} is forbidden: {why}", details)


def invalid(kind: Subject, name: str, errors: Sequence[FieldError]) -> StatusError:
    """422 Invalid with its causes; `kind` carries the kind, not the plural."""
    details = _details(kind, name)
    details["causes"] = [{"reason": each.type, "message": each.message, "field": each.field} for each in errors]
    # The server joins the distinct problems: one stands alone, several are in brackets.
    problems = list(dict.fromkeys(str(each) for each in errors))
    joined = problems[0] if len(problems) == 1 else "[" + ", ".join(problems) + "]"
    return StatusError(422, "Invalid", f'{kind} "{name}" is invalid: {joined}', details)


def bad_request(message: str) -> StatusError:
    """400 BadRequest."""
    return StatusError(400, "BadRequest", message)


def method_not_allowed() -> StatusError:
    """405: the path exists, the method does not."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, {})


def not_here(message: str) -> StatusError:
    """What is asked for is no business of an embedded server, and the text says so."""
    return StatusError(405, "MethodNotAllowed", message)


def unauthorized() -> StatusError:
    """No token, or not the server's."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def too_many_requests(message: str) -> StatusError:
    """The server has enough to do; the client is to come back."""
    return StatusError(429, "TooManyRequests", message, {"retryAfterSeconds": 1})


def no_such_resource() -> StatusError:
    """404 for a path of a known group and version that no resource has."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def unsupported_media_type(accepted: Iterable[str]) -> StatusError:
    """415."""
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return StatusError(415, "UnsupportedMediaType", message)


def too_large(limit: int) -> StatusError:
    """413 for a body of more than `limit` bytes."""
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def expired(message: str) -> StatusError:
    """410 Expired: the resourceVersion or continue token is older than what is remembered."""
    return StatusError(410, "Expired", message)


def resource_version_too_large(asked: int, current: int) -> StatusError:
    """504: a list at a resourceVersion the server has not reached."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return StatusError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def internal(message: str) -> StatusError:
    """500 for a request that trips the server's own checks."""
    return StatusError(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


def unprocessable(message: str) -> StatusError:
    """422 for a JSON patch that does not apply."""
    text = "the server rejected our request due to an error in our request"
    return StatusError(422, "Invalid", text, {"causes": []} if not message else {})


def _causes(causes: Sequence[Cause]) -> list[dict[str, str]]:
    return [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in causes]
