"""Connections to one API server, replaced as a whole when certificates change.

A session of aiohttp for lists, watches and proxies; lanes for everything else, which is short and frequent.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import aiohttp

from dra_scheduler.client.lanes import Lanes
from dra_scheduler.client.sockets import keep_alive

CONNECTIONS = 256
"""At most at once; a watch holds one for as long as it lasts (HTTP/1.1)."""
KEEP_ALIVE = 60.0
"""Seconds for which an unused connection is kept."""
READ_BUFFER = 256 * 1024


class Pool:
    """A session, lanes, and how many requests are in them. `lanes` None: all requests go through the session."""

    def __init__(self, context: ssl.SSLContext | None, lanes: Lanes | None = None) -> None:
        self.lanes = lanes
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

    def __enter__(self) -> Pool:
        """Keep it open for one request."""
        self._in_use += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self._in_use -= 1
        if not self._in_use:
            self._unused.set()

    async def retire(self) -> None:
        """No new requests come: close once those under way have ended."""
        while self._in_use:
            self._unused.clear()
            await self._unused.wait()
        await self.close()

    async def close(self) -> None:
        """Close now; what is under way ends with an error."""
        if self.lanes is not None:
            self.lanes.close()
        await self.session.close()


def _open_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, *_ = address
    opened = socket.socket(family, kind, protocol)
    keep_alive(opened)
    opened.setblocking(False)
    return opened
