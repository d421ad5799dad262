from __future__ import annotations

import asyncio
import socket
import subprocess
import sys

import aiohttp
import pytest

from dra_scheduler.http import AddressError, Probes, listen, serving
from dra_scheduler.metrics import Metric


class State:
    def __init__(self) -> None:
        self.live: str | None = None
        self.ready: str | None = "the caches are not filled yet"

    @property
    def probes(self) -> Probes:
        figure = Metric("pods", "gauge", "Pods.", (({}, 3.0),))
        return Probes(lambda: self.live, lambda: self.ready, lambda: [figure])


async def get(port: int, path: str) -> tuple[int, str, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, await answer.text(), answer.headers["Content-Type"]


async def test_probes_and_metrics_are_answered_as_the_state_is() -> None:
    state, listener = State(), listen("127.0.0.1:0")
    port = listener.getsockname()[1]
    async with serving(listener, state.probes):
        assert (await get(port, "/livez"))[:2] == (200, "ok\n")
        assert (await get(port, "/readyz"))[:2] == (503, "the caches are not filled yet\n")
        state.ready = None
        assert (await get(port, "/readyz"))[:2] == (200, "ok\n")
        state.live = "the event loop has been held for 12.0 s"
        assert (await get(port, "/livez"))[:2] == (503, "the event loop has been held for 12.0 s\n")
        assert (await get(port, "/readyz"))[0] == 503
        status, text, kind = await get(port, "/metrics")
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert "dra_scheduler_pods 3\n" in text
        assert (await get(port, "/docs"))[0] == 404
    with pytest.raises(aiohttp.ClientConnectorError):
        await get(port, "/livez")


async def test_stopping_ends_also_requests_that_hang() -> None:
    listener = listen("127.0.0.1:0")
    async with asyncio.timeout(10), serving(listener, State().probes):
        await get(listener.getsockname()[1], "/livez")
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        writer.write(b"GET /livez HTTP/1.1\r\n")
        await writer.drain()
    writer.close()


@pytest.mark.parametrize("address", ["", "8080", ":8080", "localhost:", "localhost:x", "127.0.0.1:99999", "a b:1"])
def test_an_address_that_is_none_is_told(address: str) -> None:
    with pytest.raises(AddressError):
        listen(address)


def test_an_address_in_use_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(AddressError, match=f"{address}: Address already in use"):
            listen(address)


def test_the_web_framework_is_imported_only_when_an_address_is_given() -> None:
    code = (
        "import sys, dra_scheduler.process\n"
        "assert not {'fastapi', 'uvicorn', 'starlette', 'kubernetes_asyncio'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
