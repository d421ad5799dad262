from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from dra_api.transport import MERGE_PATCH, Request, TransportError, WatchRefusedError
from dra_scheduler.client import http_transport
from dra_scheduler.client.credentials import Credentials, FixedCredentials, Issued, IssuedCredentials, Secret, TokenFile
from dra_scheduler.client.http_transport import Endpoint, HttpTransport
from dra_scheduler.client.tls import TlsFiles
from dra_scheduler.system_clock import SystemClock
from support.https import Authority, Handler, Server, serve

CLOCK = SystemClock()


async def fine(_: web.Request) -> web.StreamResponse:
    return web.json_response({"kind": "Pod"})


@asynccontextmanager
async def connected(
    handler: Handler, credentials: Credentials | None = None, **endpoint: Any
) -> AsyncIterator[tuple[Server, HttpTransport]]:
    async with serve(handler) as server:
        where = Endpoint(server.url, TlsFiles(), **endpoint)
        async with HttpTransport(where, credentials or FixedCredentials(Secret()), CLOCK) as transport:
            yield server, transport


async def test_method_path_query_body_and_type_arrive_as_given_and_the_answer_comes_back() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=409, body=b"no", headers={"Retry-After": "3"})

    async with connected(handler, FixedCredentials(Secret("Bearer abc"))) as (server, transport):
        query = {"continue": "a+b/c==&", "labelSelector": "a in (b,c)"}
        response = await transport.send(Request("PATCH", "/api/v1/x", query, b'{"a":1}', MERGE_PATCH))
        [seen] = server.requests
        assert (seen.method, seen.path, dict(seen.query)) == ("PATCH", "/api/v1/x", query)
        assert server.bodies == [b'{"a":1}']
        assert seen.headers["Content-Type"] == MERGE_PATCH
        assert seen.headers["Authorization"] == "Bearer abc"
        assert seen.headers["User-Agent"] == "dra-scheduler"
        assert (response.status, response.body, response.headers["retry-after"]) == (409, b"no", "3")


async def test_connections_are_kept_for_the_next_request() -> None:
    async with connected(fine) as (server, transport):
        for _ in range(5):
            await transport.send(Request("GET", "/"))
        assert len(set(server.ports)) == 1


async def test_a_redirect_is_not_followed_with_the_token() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    async with connected(handler) as (server, transport):
        assert (await transport.send(Request("GET", "/"))).status == 302
        assert len(server.requests) == 1


async def test_nobody_listening_is_known_not_to_have_been_sent() -> None:
    async with serve(fine) as server:
        url = server.url
    async with HttpTransport(Endpoint(url, TlsFiles()), FixedCredentials(Secret()), CLOCK) as transport:
        with pytest.raises(TransportError) as caught:
            await transport.send(Request("GET", "/"))
        assert not caught.value.sent


async def test_a_cut_and_a_slow_answer_leave_the_outcome_open(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path == "/cut":
            assert request.transport is not None
            request.transport.abort()
        await asyncio.sleep(10)
        return web.Response()

    monkeypatch.setattr(http_transport, "WRITE_TIMEOUT", 0.1)
    async with connected(handler) as (_, transport):
        for path in ("/cut", "/slow"):
            with pytest.raises(TransportError) as caught:
                await transport.send(Request("PATCH", path, {}, b"{}"))
            assert caught.value.sent
        assert "no answer in time" in str(caught.value)


@pytest.mark.parametrize("chunked", [True, False])
async def test_an_endless_answer_is_given_up(monkeypatch: pytest.MonkeyPatch, chunked: bool) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if not chunked:
            return web.Response(body=b"x" * 200_000)
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b"x" * 50_000)
        return response

    monkeypatch.setattr(http_transport, "ANSWER_LIMIT", 100_000)
    async with connected(handler) as (_, transport):
        with pytest.raises(TransportError, match="larger than 100000 bytes"):
            await transport.send(Request("GET", "/"))


async def watching(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for piece in (b'{"a":1}\n{"b"', b":2}", b'\n\n{"c":3}\n{"unfinished"'):
        await response.write(piece)
        await asyncio.sleep(0)
    if request.query.get("end") == "cut":
        assert request.transport is not None
        request.transport.abort()
    return response


async def test_a_watch_yields_whole_lines_however_they_are_cut_into_pieces() -> None:
    async with (
        connected(watching) as (_, transport),
        transport.watch(Request("GET", "/", {"watch": "true"})) as lines,
    ):
        assert [line async for line in lines] == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


async def test_a_cut_watch_raises_after_its_last_whole_line() -> None:
    async with connected(watching) as (_, transport):
        seen: list[bytes] = []

        async def read() -> None:
            async with transport.watch(Request("GET", "/", {"end": "cut"})) as lines:
                async for line in lines:
                    seen.append(line)

        with pytest.raises(TransportError):
            await read()
        assert seen == [b'{"a":1}', b'{"b":2}', b'{"c":3}'][: len(seen)]


async def test_leaving_a_watch_early_closes_it() -> None:
    ended = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"{}\n")
                await asyncio.sleep(0.001)
        finally:
            ended.set()
        return response

    async with connected(handler) as (_, transport):
        async with transport.watch(Request("GET", "/")) as lines:
            async for _ in lines:
                break
        async with asyncio.timeout(5):
            await ended.wait()


async def test_a_refused_watch_has_the_server_s_answer() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "Status", "code": 410}, status=410)

    async with connected(handler) as (_, transport):
        with pytest.raises(WatchRefusedError) as caught:
            async with transport.watch(Request("GET", "/")):
                pass
        assert caught.value.response.status == 410
        assert b"Status" in caught.value.response.body


def guarded(token: list[str]) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {token[0]}":
            return web.json_response({"kind": "Status", "code": 401, "reason": "Unauthorized"}, status=401)
        return web.json_response({}) if "watch" not in request.query else await watching(request)

    return handler


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_rotated_token_file_is_read_again_after_401_and_the_request_sent_again(
    tmp_path: Path, method: str
) -> None:
    file, valid = tmp_path / "token", ["one"]
    file.write_text("one\n")
    async with connected(guarded(valid), TokenFile(file, CLOCK)) as (server, transport):
        assert (await transport.send(Request(method, "/", {}, b"{}"))).status == 200
        valid[0] = "two"
        assert (await transport.send(Request(method, "/", {}, b"{}"))).status == 401
        file.write_text("two")
        assert (await transport.send(Request(method, "/", {}, b"{}"))).status == 200
        assert server.tokens == ["Bearer one", "Bearer one", "Bearer one", "Bearer two"]
        valid[0] = "three"
        file.write_text("three")
        async with transport.watch(Request("GET", "/", {"watch": "true"})) as lines:
            assert len([line async for line in lines]) == 3


async def test_a_token_issued_anew_after_401_is_used_by_everybody_who_waited_for_it() -> None:
    valid, issued = ["0"], []

    async def issue() -> Issued:
        await asyncio.sleep(0.01)
        issued.append(valid[0])
        return Issued(Secret(f"Bearer {valid[0]}"))

    async with connected(guarded(valid), IssuedCredentials(issue, CLOCK)) as (_, transport):
        await transport.send(Request("GET", "/"))
        valid[0] = "1"
        answers = await asyncio.gather(*(transport.send(Request("GET", "/")) for _ in range(20)))
        assert {answer.status for answer in answers} == {200}
        assert issued == ["0", "1"]


@asynccontextmanager
async def secured(
    tmp_path: Path, files: TlsFiles, *hosts: str, clients: Path | None = None, **endpoint: Any
) -> AsyncIterator[tuple[Server, HttpTransport]]:
    authority = Authority(tmp_path)
    async with serve(fine, authority.issue("server", *(hosts or ("127.0.0.1",))), clients) as server:
        where = Endpoint(server.url, files, **endpoint)
        async with HttpTransport(where, FixedCredentials(Secret()), CLOCK) as transport:
            yield server, transport


async def test_a_server_of_a_known_authority_is_trusted(tmp_path: Path) -> None:
    async with secured(tmp_path, TlsFiles(ca=str(tmp_path / "test-authority.crt"))) as (_, transport):
        assert (await transport.send(Request("GET", "/"))).status == 200


async def test_a_server_of_an_unknown_authority_or_name_is_not(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with secured(tmp_path, TlsFiles(ca=str(Authority(other).file))) as (server, transport):
        with pytest.raises(TransportError, match="TLS: ") as caught:
            await transport.send(Request("GET", "/"))
        assert not caught.value.sent
        assert server.requests == []
    async with secured(tmp_path, TlsFiles(ca=str(tmp_path / "test-authority.crt")), "elsewhere") as (_, transport):
        with pytest.raises(TransportError, match="TLS: "):
            await transport.send(Request("GET", "/"))


async def test_another_name_is_expected_if_the_kubeconfig_says_so(tmp_path: Path) -> None:
    files = TlsFiles(ca=str(tmp_path / "test-authority.crt"))
    async with secured(tmp_path, files, "kubernetes.example", server_name="kubernetes.example") as (_, transport):
        assert (await transport.send(Request("GET", "/"))).status == 200


async def test_skipping_verification_skips_it(tmp_path: Path) -> None:
    async with secured(tmp_path, TlsFiles(verify=False), "elsewhere") as (_, transport):
        assert (await transport.send(Request("GET", "/"))).status == 200


async def test_a_client_certificate_is_shown_and_its_replacement_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "clients"
    folder.mkdir()
    authority = Authority(folder)
    files = authority.issue("client")
    tls = TlsFiles(str(tmp_path / "test-authority.crt"), str(files.certificate), str(files.key))
    monkeypatch.setattr(http_transport, "CHECK_FILES", 0.0)
    async with secured(tmp_path, tls, clients=authority.file) as (server, transport):
        await transport.send(Request("GET", "/"))
        await transport.send(Request("GET", "/"))
        authority.issue("client")  # over the same files
        await transport.send(Request("GET", "/"))
        first, second, third = server.ports
        assert first == second != third


async def test_a_certificate_from_a_plugin_is_used_and_never_left_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "clients"
    folder.mkdir()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    clients = Authority(folder)
    files = clients.issue("client")
    secret = Secret(certificate=files.certificate.read_bytes(), key=files.key.read_bytes())
    server_authority = Authority(tmp_path)
    async with serve(fine, server_authority.issue("server", "127.0.0.1"), clients.file) as server:
        endpoint = Endpoint(server.url, TlsFiles(ca=str(server_authority.file)))
        async with HttpTransport(endpoint, FixedCredentials(secret), CLOCK) as transport:
            assert (await transport.send(Request("GET", "/"))).status == 200
    assert list(temporary.iterdir()) == []


async def test_requests_under_way_end_in_the_old_connections_when_the_certificate_changes(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    first, second = authority.issue("first"), authority.issue("second")
    release = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path == "/slow":
            await release.wait()
        return web.json_response({})

    secrets = [
        Secret(certificate=files.certificate.read_bytes(), key=files.key.read_bytes()) for files in (first, second)
    ]

    class Rotating(FixedCredentials):
        async def current(self) -> Secret:
            return secrets[0]

    async with serve(handler, authority.issue("server", "127.0.0.1"), authority.file) as server:
        endpoint = Endpoint(server.url, TlsFiles(ca=str(authority.file)))
        async with HttpTransport(endpoint, Rotating(Secret()), CLOCK) as transport:
            slow = asyncio.create_task(transport.send(Request("GET", "/slow")))
            await server.arrived.wait()
            secrets.pop(0)
            assert (await transport.send(Request("GET", "/fast"))).status == 200
            release.set()
            assert (await slow).status == 200


async def test_an_unusable_authority_file_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "ca.crt"
    bad.write_text("nonsense")
    for file in (bad, tmp_path / "none.crt"):
        endpoint = Endpoint("https://127.0.0.1:1", TlsFiles(ca=str(file)))
        async with HttpTransport(endpoint, FixedCredentials(Secret()), CLOCK) as transport:
            with pytest.raises(TransportError, match=f"certificate authority {file}"):
                await transport.send(Request("GET", "/"))
