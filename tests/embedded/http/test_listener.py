"""Listening: addresses that cannot be had, files that cannot be written, and that everything is gone in the end."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
import stat
from pathlib import Path

import orjson
import pytest

from dra_api.transport import Request
from dra_embedded.http import app as app_module
from dra_embedded.http import web_server as web_server_module
from dra_embedded.http.kubeconfig import KubeconfigError, kubeconfig, remove_kubeconfig, write_kubeconfig
from dra_embedded.http.listener import BeyondLoopbackError, ListenError, Place, serving
from dra_embedded.server import EmbeddedServer
from dra_scheduler.client.connection import connect
from support.wall_clock import WallClock


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def new_server() -> EmbeddedServer:
    return EmbeddedServer(WallClock(), random.Random(1))


def test_a_port_in_use_is_named() -> None:
    with Place().open() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ListenError, match=f"127.0.0.1:{port}: .*choose another port"):
            Place(port=port).open()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_nothing_listens_beyond_loopback_unless_that_is_meant(host: str) -> None:
    with pytest.raises(BeyondLoopbackError, match="can be reached from elsewhere"):
        Place(host).open()


def test_names_are_no_addresses() -> None:
    with pytest.raises(ListenError, match="'localhost' is no IP address"):
        Place("localhost").open()


async def test_it_serves_over_tls_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    async with serving(new_server(), WallClock(), Place(), file) as access:
        assert access.url.startswith("https://127.0.0.1:")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        async with await connect(str(file), None, WallClock()) as transport:
            answer = await transport.send(Request("GET", "/api/v1/namespaces/default"))
        assert (answer.status, orjson.loads(answer.body)["kind"]) == (200, "Namespace")
        port = int(access.url.rpartition(":")[2])
    assert not names_in(tmp_path)
    with Place(port=port).open():
        """The port is free again."""


async def test_two_servers_at_once_have_ports_of_their_own() -> None:
    async with (
        serving(new_server(), WallClock(), Place(tls=False)) as one,
        serving(new_server(), WallClock(), Place(tls=False)) as other,
    ):
        assert one.url != other.url
        assert one.token != other.token


async def test_a_kubeconfig_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="missing/kubeconfig: the kubeconfig cannot be written: No such file"):
        async with serving(new_server(), WallClock(), Place(), tmp_path / "missing" / "kubeconfig"):
            pytest.fail("served without its kubeconfig")


def test_a_kubeconfig_of_an_earlier_run_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    old, new = kubeconfig("https://127.0.0.1:1", None, "old"), kubeconfig("https://127.0.0.1:2", None, "new")
    file.write_bytes(old)
    file.chmod(0o644)
    write_kubeconfig(file, new)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (new, 0o600)
    assert names_in(tmp_path) == ["kubeconfig"]
    remove_kubeconfig(file, old)
    assert names_in(tmp_path) == ["kubeconfig"], "another run has it now"
    remove_kubeconfig(file, new)
    remove_kubeconfig(file, new)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("content", ["apiVersion: v1\nkind: Config\ncurrent-context: work\n", "[]", '{"a": 1}'])
def test_somebody_elses_kubeconfig_is_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / "config"
    file.write_text(content)
    with pytest.raises(KubeconfigError, match="another kubeconfig, which would be lost"):
        write_kubeconfig(file, kubeconfig("https://127.0.0.1:1", None, "token"))
    assert file.read_text() == content
    assert names_in(tmp_path) == ["config"]


async def test_a_connection_whose_client_does_not_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "READ_SECONDS", 0.05)
    server = new_server()
    async with serving(server, WallClock(), Place(tls=False)) as access:
        port = int(access.url.rpartition(":")[2])
        maps = "/api/v1/namespaces/default/configmaps"
        with socket.create_connection(("127.0.0.1", port)) as client:
            head = f"GET {maps}?watch=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {access.token}\r\n\r\n"
            client.sendall(head.encode())
            await asyncio.sleep(0.05)
            for number in range(30):
                body = orjson.dumps({"metadata": {"name": f"map-{number}"}, "data": {"key": "x" * 1_000_000}})
                assert (await server.send(Request("POST", maps, {}, body))).status == 201
            await asyncio.sleep(0.5)
            client.setblocking(False)
            assert await _rest(client) < 30_000_000


async def test_cutting_a_connection_is_nothing_to_complain_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app_module, "READ_SECONDS", 0.05)
    server = new_server()
    async with serving(server, WallClock(), Place()) as access:
        trusted = ssl.create_default_context(cadata=(access.authority or b"").decode())
        port = int(access.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusted)
        maps = "/api/v1/namespaces/default/configmaps"
        writer.write(
            f"GET {maps}?watch=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {access.token}\r\n\r\n".encode()
        )
        await reader.readuntil(b"\r\n\r\n")
        for number in range(30):
            body = orjson.dumps({"metadata": {"name": f"map-{number}"}, "data": {"key": "x" * 1_000_000}})
            assert (await server.send(Request("POST", maps, {}, body))).status == 201
        await asyncio.sleep(0.5)
        writer.transport.abort()
    assert caplog.messages == []


async def test_more_connections_than_there_are_files_for_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server_module, "connections_allowed", lambda: 2)
    async with serving(new_server(), WallClock(), Place(tls=False)) as access:
        port = int(access.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as first, socket.create_connection(("127.0.0.1", port)):
            await asyncio.sleep(0.05)
            first.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            first.setblocking(False)
            async with asyncio.timeout(5):
                answer = await asyncio.get_running_loop().sock_recv(first, 1 << 16)
            assert answer.startswith(b"HTTP/1.1 503")


async def test_a_client_that_wants_another_protocol_is_answered_and_nothing_is_printed(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(new_server(), WallClock(), Place(tls=False)) as access:
        port = int(access.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as client:
            words = ["GET /api/v1/namespaces/default/pods/a/exec HTTP/1.1", "Host: x", "Connection: Upgrade"]
            words += (
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                f"Authorization: Bearer {access.token}",
                "",
                "",
            )
            client.sendall("\r\n".join(words).encode())
            client.setblocking(False)
            async with asyncio.timeout(5):
                answer = await asyncio.get_running_loop().sock_recv(client, 1 << 16)
            assert answer.startswith(b"HTTP/1.1 405")
    assert capfd.readouterr() == ("", "")
    assert caplog.messages == []


async def _rest(client: socket.socket) -> int:
    """How many bytes still come before the connection ends."""
    loop, size = asyncio.get_running_loop(), 0
    async with asyncio.timeout(10):
        try:
            while piece := await loop.sock_recv(client, 1 << 20):
                size += len(piece)
        except ConnectionResetError:
            pass
    return size
