"""Connections to one API server: a session of aiohttp, replaced as a whole when certificates change."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import aiohttp

CONNECTIONS = 256
"""At most at once; a watch holds one for as long as it lasts (HTTP/1.1)."""
KEEP_ALIVE = 60.0
"""Seconds for which an unused connection is kept."""
READ_BUFFER = 256 * 1024
PROBE_AFTER, PROBE_EVERY, PROBES = 30, 10, 3
"""Seconds of silence before TCP asks whether the other side is there, and so on: half-open watches end in a minute."""


class Pool:
    """A session and how many requests are in it."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        connector = aiohttp.TCPConnector(
            limit=CONNECTIONS,
            ssl=context if context is not None else True,
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=_open_socket,
        )
        self.session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=READ_BUFFER,
            timeout=aiohttp.ClientTimeout(total=None),
        )
        self._in_use = 0
        self._unused = asyncio.Event()

    def __enter__(self) -> aiohttp.ClientSession:
        """The session, for one request."""
        self._in_use += 1
        return self.session

    def __exit__(self, *exc: object) -> None:
        self._in_use -= 1
        if not self._in_use:
            self._unused.set()

    async def retire(self) -> None:
        """No new requests come: close once those under way have ended."""
        while self._in_use:
            self._unused.clear()
            await self._unused.wait()
        await self.session.close()

    async def close(self) -> None:
        """Close now; what is under way ends with an error."""
        await self.session.close()


def _open_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, *_ = address
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", PROBE_AFTER), ("TCP_KEEPINTVL", PROBE_EVERY), ("TCP_KEEPCNT", PROBES)):
        option = getattr(socket, name, None)  # not every system has all of them
        if option is not None:
            opened.setsockopt(socket.IPPROTO_TCP, option, value)
    opened.setblocking(False)
    return opened
