"""The web server that runs the application, as a part of a process that has other things to do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from dra_embedded.http.app import Application
from dra_embedded.http.certificates import Certificates
from dra_embedded.http.open_files import connections_allowed

STOP_SECONDS = 1
"""How long open watches may take to end when the server stops."""


class WebServer(uvicorn.Server):
    """Leaves the signals to the process that it is only a part of; `up` is set once it accepts connections."""

    def __init__(self, application: Application, made: Certificates | None) -> None:
        super().__init__(_configuration(application, made))
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield


def _configuration(application: Application, made: Certificates | None) -> uvicorn.Config:
    config = uvicorn.Config(
        application,
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        log_level="error",
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_keep_alive=75,
        # One at a time: an event loop that finds no file for a connection complains as often as it was to accept.
        backlog=1,
        limit_concurrency=connections_allowed(),
    )
    config.load()
    if made is not None:
        with tempfile.TemporaryDirectory() as folder:
            config.ssl = made.context(Path(folder))
    return config
