"""Kept connections to one API server for requests with short answers."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from dra_api.transport import Response, TransportError
from dra_scheduler.client.lane import Lane
from dra_scheduler.client.sockets import keep_alive

CONNECTIONS = 256
"""At most at once."""
CONNECT_TIMEOUT = 10.0
"""Seconds, TLS included."""
KEEP_ALIVE = 60.0
"""Seconds for which an unused connection is kept."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is. `authority` is what its Host header says, `prefix` goes before every path."""

    host: str
    port: int
    authority: str
    prefix: str

    @classmethod
    def of(cls, server: str) -> Address:
        """Read `https://host:port/prefix`."""
        parts = urlsplit(server)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls(parts.hostname or "", port, parts.netloc.rpartition("@")[2], parts.path)


class Lanes:
    """Takes a free connection for each request, or makes one."""

    def __init__(self, address: Address, context: ssl.SSLContext | None, server_name: str | None, limit: int) -> None:
        """`server_name`: to be found in the certificate; None: the host. `limit`: bytes of an answer at most."""
        self._address = address
        self._context = context
        self._server_name = server_name
        self._limit = limit
        self._free: list[Lane] = []
        self._all: set[Lane] = set()
        self._places = asyncio.Semaphore(CONNECTIONS)

    async def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, seconds: float
    ) -> Response:
        """Send a request; `target` is path and query, escaped. Raises TransportError.

        It is sent once: when a kept connection ends meanwhile, the outcome is as unknown as anywhere else.
        """
        message = _message(
            method, f"{self._address.prefix}{target}", {"Host": self._address.authority, **headers}, body
        )
        async with self._places:
            lane = self._take() or await self._open()
            try:
                return await lane.exchange(message, seconds)
            finally:
                if lane.free:
                    self._free.append(lane)
                else:
                    self._all.discard(lane)

    def close(self) -> None:
        """Close all of them; requests under way fail."""
        self._free.clear()
        for lane in self._all:
            lane.close()
        self._all.clear()

    def _take(self) -> Lane | None:
        """Return the one that was used last, and let go of those that ended or have not been used for long."""
        now = asyncio.get_running_loop().time()
        while self._free:
            lane = self._free.pop()
            if lane.free and now - lane.used_at < KEEP_ALIVE:
                return lane
            lane.close()
            self._all.discard(lane)
        return None

    async def _open(self) -> Lane:
        """Connect. Raises TransportError: nothing has been sent."""
        loop, address = asyncio.get_running_loop(), self._address
        name = (self._server_name or address.host) if self._context is not None else None
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                transport, lane = await loop.create_connection(
                    lambda: Lane(self._limit), address.host, address.port, ssl=self._context, server_hostname=name
                )
        except TimeoutError as error:
            raise TransportError("connecting timed out", sent=False) from error
        except ssl.SSLError as error:
            raise TransportError(f"TLS: {error}", sent=False) from error
        except OSError as error:
            raise TransportError(f"{type(error).__name__}: {error}", sent=False) from error
        keep_alive(transport.get_extra_info("socket"))
        self._all.add(lane)
        return lane


def _message(method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """Return a request as it is sent. Raises TransportError for what cannot stand in a head."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if body is not None or method != "GET":
        lines.append(f"Content-Length: {len(body or b'')}")
    head = "\r\n".join(lines)
    if not head.isascii() or " " in target or head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1:
        raise TransportError("the path or a header has a character that cannot be sent", sent=False)
    return f"{head}\r\n\r\n".encode() + (body or b"")
