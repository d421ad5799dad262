"""An HTTP proxy before a real API server that cuts chosen answers off after the server has acted on the request."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import aiohttp
import yaml
from aiohttp import web

from dra_bench.controlplane.kubeconfig import Connection

_HOP = frozenset(("transfer-encoding", "connection", "content-length", "host"))


class CuttingProxy:
    """Runs in a thread of its own.

    `cut` says of each request, given method and path, whether its answer is lost. `watch_seconds`: how long a watch
    lasts before it is cut; None: as long as the server lets it.
    """

    def __init__(
        self,
        connection: Connection,
        cut: Callable[[str, str], bool] = lambda _method, _path: False,
        *,
        watch_seconds: float | None = None,
    ) -> None:
        self._connection = connection
        self._cut = cut
        self._watch_seconds = watch_seconds
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self.port = 0
        self.lost = 0

    def kubeconfig(self, folder: Path) -> Path:
        """A kubeconfig for whoever is to go through this proxy, with the connection's token."""
        name = "through-proxy"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
            "users": [{"name": name, "user": {"token": self._connection.user.token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }
        path = folder / "proxy.kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    def __enter__(self) -> CuttingProxy:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        tls = ssl.create_default_context(cadata=self._connection.certificate_authority.decode())
        connector = aiohttp.TCPConnector(ssl=tls, limit=0)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._forward)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        assert self._runner is not None
        await self._runner.cleanup()
        await self._session.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        body = await request.read()
        url = self._connection.server + request.raw_path
        async with self._session.request(request.method, url, data=body or None, headers=headers) as answer:
            if self._cut(request.method, request.path) and request.transport is not None:
                await answer.read()
                self.lost += 1
                request.transport.abort()
                return web.Response(status=500)
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
            streamed = web.StreamResponse(status=answer.status, headers=kept)
            await streamed.prepare(request)
            seconds = self._watch_seconds if request.query.get("watch") else None
            try:
                async with asyncio.timeout(seconds):
                    async for chunk in answer.content.iter_any():
                        await streamed.write(chunk)
            except TimeoutError:
                self.lost += 1
                if request.transport is not None:
                    request.transport.abort()
                return streamed
            await streamed.write_eof()
            return streamed
