"""Running the application: a socket, TLS, a token, a kubeconfig; all of it gone when the context is left."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dra_api.clock import Clock
from dra_embedded.errors import EmbeddedError
from dra_embedded.http.kubeconfig import kubeconfig, remove_kubeconfig, write_kubeconfig
from dra_embedded.server import EmbeddedServer

BACKLOG = 1024


class ListenError(EmbeddedError):
    """The address cannot be listened on: whoever starts the server chooses another."""


class BeyondLoopbackError(ListenError):
    """The address is not a loopback one; whoever means that allows it with `Place.everywhere`."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach the server. `authority`: PEM of what its certificate is checked against; None: plain HTTP."""

    url: str
    token: str
    authority: bytes | None

    def kubeconfig(self) -> bytes:
        """The content of a kubeconfig."""
        return kubeconfig(self.url, self.authority, self.token)


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen. `port` 0: any free one. `everywhere`: an address beyond loopback is meant."""

    host: str = "127.0.0.1"
    port: int = 0
    tls: bool = True
    everywhere: bool = False

    def open(self) -> socket.socket:
        """Listen. Raises ListenError."""
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError as error:
            raise ListenError(f"{self.host!r} is no IP address, such as 127.0.0.1") from error
        if not address.is_loopback and not self.everywhere:
            problem = f"{self.host} can be reached from elsewhere, and whoever has the token may do everything"
            raise BeyondLoopbackError(problem)
        family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind((self.host, self.port))
            opened.listen(BACKLOG)
        except OSError as error:
            opened.close()
            in_use = error.errno == errno.EADDRINUSE
            hint = "; something else listens there: choose another port, or 0 for any free one" if in_use else ""
            raise ListenError(f"{self.host}:{self.port}: {error.strerror}{hint}") from error
        opened.setblocking(False)
        return opened


@asynccontextmanager
async def serving(
    server: EmbeddedServer, clock: Clock, place: Place, file: Path | None = None
) -> AsyncIterator[Access]:
    """Serve as long as the context lasts; `file`: where a kubeconfig is written, and removed from in the end.

    Raises ListenError, KubeconfigError.
    """
    # A quarter of a second to import, which whoever only shows a cluster need not wait for.
    from dra_embedded.http.app import Application
    from dra_embedded.http.certificates import new_certificates
    from dra_embedded.http.web_server import WebServer

    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(place.open())
        port = opened.getsockname()[1]
        host = f"[{place.host}]" if ":" in place.host else place.host
        made = new_certificates((place.host, "localhost"), clock.now()) if place.tls else None
        url = f"{'https' if made else 'http'}://{host}:{port}"
        access = Access(url, secrets.token_urlsafe(24), made.authority if made else None)
        if file is not None:
            content = access.kubeconfig()
            write_kubeconfig(file, content)
            stack.callback(remove_kubeconfig, file, content)
        web = WebServer(Application(server, clock, access.token), made)
        task = asyncio.create_task(web.serve([opened]), name="embedded API server")
        up = asyncio.create_task(web.up.wait(), name="embedded API server is up")
        try:
            await asyncio.wait({task, up}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            opened.listen(BACKLOG)  # as many may wait as before, though they are accepted one by one
            yield access
        finally:
            up.cancel()
            web.should_exit = True
            await task
