"""The web application: HTTP requests in, requests of the embedded server out, and its answers back.

    token? -> discovery, OpenAPI          as documents of this server
           -> read, write                 through the server's Transport, as a table where the client asked for one
           -> watch                       line by line; whoever does not read is cut after a while

Authentication is one bearer token for everything; there is no authorisation.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from dra_api.clock import Clock
from dra_api.transport import Request, Response, WatchRefusedError
from dra_embedded.bodies import MAX_BODY, json_response, status_response
from dra_embedded.http import discovery, openapi, tables
from dra_embedded.http.readable import readable
from dra_embedded.server import EmbeddedServer
from dra_embedded.status import StatusError, not_here, too_large, too_many_requests, unauthorized
from dra_embedded.verbs.discovery import not_found_page

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MAX_WATCHES = 2000
"""Open watches at a time; one more is told to come back later (429)."""
READ_SECONDS = 30.0
"""How long a client may take to read one piece of an answer before its connection is cut."""
CUT_SECONDS = 1.0
"""How long a connection may take to close."""
_OPEN = ("/healthz", "/livez", "/readyz")
"""Paths that need no token."""
_NEEDS_CONTAINERS = ("log", "exec", "attach", "portforward", "proxy", "ephemeralcontainers")


class SlowClientError(Exception):
    """A client does not read what it asked for; its connection is cut. The client's fault, it may come again."""


class Application:
    """An ASGI application in front of one server. `token` None: everybody may do everything."""

    def __init__(self, server: EmbeddedServer, clock: Clock, token: str | None) -> None:
        self.watches = 0
        self._server = server
        self._clock = clock
        self._expected = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request (ASGI)."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value for name, value in scope["headers"]}
        exchange = _Exchange(scope, headers, send)
        try:
            if exchange.path not in _OPEN and not self._knows(headers.get("authorization", b"")):
                raise unauthorized()
            body = await _body(headers, receive)
            await self._answer(exchange, body, receive)
        except StatusError as error:
            await exchange.respond(status_response(error))
        except SlowClientError:
            await _cut(receive, send)

    def _knows(self, authorization: bytes) -> bool:
        return self._expected is None or hmac.compare_digest(authorization, self._expected)

    async def _answer(self, exchange: _Exchange, body: bytes | None, receive: Receive) -> None:
        path, registry = exchange.path, self._server.registry
        if path.startswith(openapi.ROOT) and exchange.method == "GET":
            found = openapi.document(path, registry)
            await exchange.respond(not_found_page() if found is None else json_response(200, found))
        elif discovery.is_wanted(exchange.accept) and (groups := discovery.aggregated(path, registry)) is not None:
            headers = {"content-type": discovery.CONTENT_TYPE, "vary": "Accept"}
            await exchange.respond(Response(200, orjson.dumps(groups), headers))
        elif "/pods/" in path and path.rpartition("/")[2] in _NEEDS_CONTAINERS:
            raise not_here(
                "nothing runs in the pods of an embedded cluster: there are no logs and nothing to connect to"
            )
        elif exchange.query.get("watch") in ("true", "1") and exchange.method == "GET":
            await self._watch(exchange, receive)
        else:
            request = Request(exchange.method, path, exchange.query, body, exchange.content_type)
            response = await self._server.send(readable(request, registry))
            await exchange.respond(self._as_asked(exchange, response))

    def _as_asked(self, exchange: _Exchange, response: Response) -> Response:
        shown = exchange.method in ("GET", "POST") and response.status < 300
        if not shown or not tables.is_wanted(exchange.accept):
            return response
        table = tables.as_table(response.body, exchange.include, self._clock.now())
        return Response(response.status, table, response.headers)

    async def _watch(self, exchange: _Exchange, receive: Receive) -> None:
        if self.watches >= MAX_WATCHES:
            refusal = status_response(
                too_many_requests(f"{MAX_WATCHES} watches are open, which is all that this server takes")
            )
            # The connection would only be kept for another refusal.
            await exchange.respond(Response(refusal.status, refusal.body, {**refusal.headers, "connection": "close"}))
            return
        request = Request("GET", exchange.path, exchange.query)
        self.watches += 1
        try:
            async with self._server.watch(request) as lines:
                await self._stream(exchange, lines, receive)
        except WatchRefusedError as error:
            await exchange.respond(error.response)
        finally:
            self.watches -= 1

    async def _stream(self, exchange: _Exchange, lines: AsyncIterator[bytes], receive: Receive) -> None:
        """Send the lines until the watch ends or the client has gone."""
        table = tables.is_wanted(exchange.accept)
        await exchange.start(200, {"content-type": "application/json"})
        gone = asyncio.create_task(_gone(receive))
        try:
            while True:
                line = asyncio.ensure_future(anext(lines))
                await asyncio.wait({line, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not line.done():
                    line.cancel()
                    await asyncio.gather(line, return_exceptions=True)
                    return
                try:
                    sent = line.result()
                except StopAsyncIteration:
                    break
                await exchange.piece(
                    tables.event_as_table(sent, exchange.include, self._clock.now()) if table else sent
                )
            await exchange.piece(b"", last=True)
        finally:
            gone.cancel()


class _Exchange:
    """One request and the way back."""

    def __init__(self, scope: Scope, headers: Mapping[str, bytes], send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else scope["path"]
        self.query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        self.accept = headers.get("accept", b"").decode("latin-1")
        self.content_type = headers.get("content-type", b"application/json").decode("latin-1")
        self.include = self.query.pop("includeObject", "Metadata")
        self._send = send

    async def respond(self, response: Response) -> None:
        """Send a whole answer."""
        await self.start(response.status, {**response.headers, "content-length": str(len(response.body))})
        await self.piece(response.body, last=True)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send status and headers."""
        encoded = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def piece(self, body: bytes, *, last: bool = False) -> None:
        """Send a part of the body. Raises SlowClientError, which ends the connection."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                await self._send({"type": "http.response.body", "body": body, "more_body": not last})
        except TimeoutError:
            raise SlowClientError(f"{self.path}: the client has not read for {READ_SECONDS:.0f} s") from None


async def _body(headers: Mapping[str, bytes], receive: Receive) -> bytes | None:
    """The request's body, None if there is none. Raises StatusError (413) without reading more than is accepted."""
    declared = headers.get("content-length", b"0")
    if declared.isdigit() and int(declared) > MAX_BODY:
        raise too_large(MAX_BODY)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise too_large(MAX_BODY)
        if not message.get("more_body"):
            break
    return b"".join(parts) or None


async def _cut(receive: Receive, send: Send) -> None:
    """Close the connection without waiting for the client to read the rest, as a server that just returns would."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is not None:
        transport.abort()
        # Until the web server has seen it, which would otherwise complain of an answer without an end.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CUT_SECONDS):
                await _gone(receive)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
