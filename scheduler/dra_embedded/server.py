"""The embedded API server: the Transport that `simulate`, the demo and the tests talk to.

    request -> path -> verb -> store      one step of the event loop, so every request is a transaction

It answers as the real API server does (statuses, reasons, causes, event sequences), without authentication,
authorisation, server-side apply and admission webhooks. Beside what the verbs say:

* `send` gives the loop one turn before it looks at the request, so that requests of concurrent tasks interleave.
* A list or get at a resourceVersion of the future waits three seconds for it, then answers 504.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from dra_api.clock import Clock
from dra_api.references import Resource
from dra_api.transport import Request, Response, WatchRefusedError
from dra_embedded.bodies import status_response
from dra_embedded.context import Context
from dra_embedded.paths import Target, parse_path
from dra_embedded.registry import SERVED_DRA_VERSIONS, Registry, plain
from dra_embedded.restore import restore
from dra_embedded.seeds import seed
from dra_embedded.status import StatusError, method_not_allowed
from dra_embedded.store.store import DEFAULT_HISTORY, Store
from dra_embedded.verbs.access_review import access_review
from dra_embedded.verbs.binding import bind
from dra_embedded.verbs.create import create
from dra_embedded.verbs.delete import delete, delete_collection
from dra_embedded.verbs.discovery import discover, not_found_page
from dra_embedded.verbs.patch import patch
from dra_embedded.verbs.read import get, list_objects
from dra_embedded.verbs.update import update
from dra_embedded.verbs.watch import Watch

FUTURE_WAIT = 3.0
"""Seconds that a read waits for a resourceVersion that is not reached yet."""

Handler = Callable[[Context, Target, Request], Response]

_COLLECTION: dict[str, Handler] = {"GET": list_objects, "POST": create, "DELETE": delete_collection}
_OBJECT: dict[str, Handler] = {"GET": get, "PUT": update, "PATCH": patch, "DELETE": delete}
_SUBRESOURCES: dict[str, dict[str, Handler]] = {
    "status": {"GET": get, "PUT": update, "PATCH": patch},
    "finalize": {"PUT": update},
    "binding": {"POST": bind},
}


class EmbeddedServer:
    """An API server in memory; implements `dra_api.transport.Transport`.

    `source` is where uids and generated names come from. `history`: changes remembered for each kind; a watch that asks
    for older ones gets 410. `dra_versions`: served versions of resource.k8s.io, preferred first.
    """

    def __init__(
        self,
        clock: Clock,
        source: random.Random,
        *,
        history: int = DEFAULT_HISTORY,
        dra_versions: tuple[str, ...] = SERVED_DRA_VERSIONS,
    ) -> None:
        self.registry = Registry(dra_versions)
        self.store = Store(history)
        self._context = Context(self.store, self.registry, clock, source)
        seed(self._context)

    async def send(self, request: Request) -> Response:
        """Answer a request; never raises TransportError."""
        await asyncio.sleep(0)
        try:
            return self.handle(request)
        except StatusError as error:
            if error.reason != "Timeout":
                return status_response(error)
        await asyncio.sleep(FUTURE_WAIT)
        try:
            return self.handle(request)
        except StatusError as error:
            return status_response(error)

    def handle(self, request: Request) -> Response:
        """Answer a request at once. Raises StatusError for a refusal."""
        target = parse_path(request.path, self.registry)
        if target is None:
            return access_review(request) or discover(request.path, self.registry) or not_found_page()
        handlers = _COLLECTION if target.name is None else _OBJECT
        if target.subresource:
            handlers = _SUBRESOURCES[target.subresource]
        handler = handlers.get(request.method)
        across = target.namespace is None and target.served.resource.namespaced
        if handler is None or (across and request.method != "GET"):
            raise method_not_allowed()
        return handler(self._context, target, request)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a watch. Entering raises WatchRefusedError."""
        await asyncio.sleep(0)
        try:
            target = parse_path(request.path, self.registry)
            if target is None:
                raise WatchRefusedError(not_found_page())
            watch = Watch(self._context, target, request)
        except StatusError as error:
            raise WatchRefusedError(status_response(error)) from error
        async with aclosing(watch.lines()) as lines:
            yield lines

    def register(self, resource: Resource, *, status: bool = True) -> None:
        """Serve one more kind, without rules of its own. Raises EmbeddedUsageError when its path is taken."""
        self.registry.add(plain(resource, subresources=frozenset({"status"}) if status else frozenset()))

    def restore(self, obj: dict[str, Any]) -> None:
        """Store an object as a file has it, with its uid, times and status. Raises StatusError for a bad one."""
        restore(self._context, self.registry, obj)
