"""One clear log line when talking to the API server stops working, and one when it works again."""

from __future__ import annotations

import logging

from dra_api.clock import Clock
from dra_api.references import Resource
from dra_api.transport import TransportError
from dra_scheduler.client.errors import ApiStatusError, ForbiddenError, UnauthorizedError

UNREACHABLE = "unreachable"
UNAUTHORIZED = "unauthorized"
FORBIDDEN = "forbidden"
STARTING = 30.0
"""Seconds after an API server came back during which it is not believed that a rule is missing."""

log = logging.getLogger(__name__)


class TroubleLog:
    """Shared by all reflectors: an API server that is down is one trouble, not one of each kind of object."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._who: dict[str, set[str]] = {}
        self._since: dict[str, float] = {}
        self._told: set[str] = set()
        self._back_at: float | None = None

    @property
    def current(self) -> list[str]:
        """What does not work at present, such as `unreachable` or `forbidden pods`."""
        return sorted(self._who)

    def report(self, resource: Resource, error: Exception) -> None:
        """A request for this kind failed."""
        trouble = _trouble(resource, error)
        for other in list(self._who):
            if other != trouble:
                self._leave(other, resource)
        who = self._who.setdefault(trouble, set())
        if not who:
            self._since[trouble] = self._clock.monotonic()
        who.add(_name(resource))
        if trouble not in self._told and not (trouble.startswith(FORBIDDEN) and self._starting()):
            self._told.add(trouble)
            _describe(resource, error)

    def recovered(self, resource: Resource) -> None:
        """A request for this kind worked."""
        for trouble in list(self._who):
            self._leave(trouble, resource)

    def _leave(self, trouble: str, resource: Resource) -> None:
        who = self._who[trouble]
        if _name(resource) not in who:
            return
        who.discard(_name(resource))
        if not who:
            del self._who[trouble]
            lasted = self._clock.monotonic() - self._since.pop(trouble)
            if trouble == UNREACHABLE:
                self._back_at = self._clock.monotonic()
            if trouble in self._told:
                self._told.discard(trouble)
                log.info("trouble ended trouble=%r seconds=%.1f", trouble, lasted)

    def _starting(self) -> bool:
        """Whether the API server may have just started: until it has read its own roles it forbids everything."""
        if UNREACHABLE in self._who:
            return True
        return self._back_at is not None and self._clock.monotonic() - self._back_at < STARTING


def _name(resource: Resource) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def _trouble(resource: Resource, error: Exception) -> str:
    if isinstance(error, TransportError):
        return UNREACHABLE
    if isinstance(error, UnauthorizedError):
        return UNAUTHORIZED
    if isinstance(error, ForbiddenError):
        return f"{FORBIDDEN} {_name(resource)}"
    status = error.status if isinstance(error, ApiStatusError) else type(error).__name__
    return f"{status} {_name(resource)}"


def _describe(resource: Resource, error: Exception) -> None:
    name = _name(resource)
    if isinstance(error, TransportError):
        log.warning("API server not reachable, trying again resource=%s error=%s", name, error)
    elif isinstance(error, UnauthorizedError):
        log.error("API server rejects our credentials, trying again: renew the token or certificate error=%s", error)
    elif isinstance(error, ForbiddenError):
        rule = f"apiGroups=[{resource.group!r}] resources=[{resource.plural!r}] verbs=['get', 'list', 'watch']"
        log.error("RBAC rule missing, trying again: add it to the scheduler's ClusterRole %s error=%s", rule, error)
    else:
        log.warning("API server refuses, trying again resource=%s error=%s", name, error)
