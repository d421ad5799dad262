"""Connections for writes: kept, given up when in doubt, never used for two requests at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from dra_api.transport import TransportError
from dra_scheduler.client import lanes as lanes_module
from dra_scheduler.client.lanes import Address, Lanes

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def connected(talk: Talk, limit: int = 1000) -> AsyncIterator[tuple[Lanes, list[int]]]:
    """Lanes to a server that talks so; the second value counts the connections that came."""
    came: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(1)
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    lanes = Lanes(Address.of(f"http://127.0.0.1:{port}/prefix"), None, None, limit)
    try:
        yield lanes, came
    finally:
        lanes.close()
        server.close()
        await server.wait_closed()


async def post(lanes: Lanes, target: str = "/x", seconds: float = 5.0, body: bytes | None = b"{}") -> bytes:
    return (await lanes.exchange("POST", target, {"Accept": "a/b"}, body, seconds)).body


async def heard(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head + await reader.readexactly(length)


async def ended(lanes: Lanes) -> None:
    """Wait until the kept connection has noticed that it is of no more use."""
    for _ in range(10_000):
        if not lanes._free or not lanes._free[0].free:
            return
        await asyncio.sleep(0)
    pytest.fail("the connection is still in use")


async def politely(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await heard(reader)
        writer.write(OK)


async def test_a_request_has_its_head_and_body_and_the_connection_is_kept() -> None:
    seen: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            seen.append(await heard(reader))
            writer.write(OK)

    async with connected(talk) as (lanes, came):
        for _ in range(3):
            assert await post(lanes, "/a?b=c%20d") == b"ok"
        assert len(came) == 1
        first = seen[0].decode()
        assert first.startswith("POST /prefix/a?b=c%20d HTTP/1.1\r\nHost: 127.0.0.1:")
        assert first.endswith("\r\nAccept: a/b\r\nContent-Length: 2\r\n\r\n{}")


async def test_requests_at_the_same_time_have_connections_of_their_own() -> None:
    async with connected(politely) as (lanes, came):
        assert await asyncio.gather(*(post(lanes) for _ in range(5))) == [b"ok"] * 5
        assert len(came) == 5
        await asyncio.gather(*(post(lanes) for _ in range(5)))
        assert len(came) == 5


async def test_a_server_that_hangs_up_without_an_answer_leaves_the_outcome_open() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok")

    async with connected(talk) as (lanes, _):
        with pytest.raises(TransportError, match="the server closed the connection") as caught:
            await post(lanes)
        assert caught.value.sent


async def test_a_kept_connection_that_ended_meanwhile_is_not_used() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(OK)

    async with connected(once) as (lanes, came):
        assert await post(lanes) == b"ok"
        await ended(lanes)
        assert await post(lanes) == b"ok"
        assert len(came) == 2


async def test_a_connection_unused_for_long_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "KEEP_ALIVE", 0.0)
    async with connected(politely) as (lanes, came):
        await post(lanes)
        await post(lanes)
        assert len(came) == 2


async def test_a_slow_answer_is_given_up_and_its_connection_with_it() -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"/slow" in await heard(reader):
            await reader.read()
        writer.write(OK)

    async with connected(slow) as (lanes, came):
        with pytest.raises(TransportError, match="no answer in time") as caught:
            await post(lanes, "/slow", seconds=0.01)
        assert caught.value.sent
        assert await post(lanes) == b"ok"
        assert len(came) == 2


async def test_a_cancelled_request_takes_its_connection_with_it() -> None:
    arrived = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"/slow" in await heard(reader):
            arrived.set()
            await reader.read()
        writer.write(OK)

    async with connected(talk) as (lanes, came):
        task = asyncio.create_task(post(lanes, "/slow"))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await post(lanes) == b"ok"
        assert len(came) == 2


async def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(OK)
        await writer.drain()
        writer.write(OK)
        await reader.read()

    async with connected(talk) as (lanes, came):
        assert await post(lanes) == b"ok"
        await ended(lanes)
        assert await post(lanes) == b"ok"
        assert len(came) == 2


async def test_what_is_no_answer_is_told_and_the_outcome_open() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        writer.write(b"garbage\r\n\r\n")
        await reader.read()

    async with connected(talk) as (lanes, _):
        with pytest.raises(TransportError, match=r"none of HTTP/1\.1") as caught:
            await post(lanes)
        assert caught.value.sent


async def test_an_answer_before_the_body_is_sent_is_taken_and_the_connection_not_used_again() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        while await reader.read(1 << 16):
            pass

    async with connected(talk) as (lanes, came):
        answer = await lanes.exchange("POST", "/x", {}, b"x" * 50_000_000, 5.0)
        assert answer.status == 413
        assert (await lanes.exchange("POST", "/x", {}, b"", 5.0)).status == 413
        assert len(came) == 2


async def test_closing_ends_what_is_under_way() -> None:
    arrived = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        arrived.set()
        await reader.read()

    async with connected(talk) as (lanes, _):
        task = asyncio.create_task(post(lanes))
        await arrived.wait()
        lanes.close()
        with pytest.raises(TransportError, match="the connection was closed"):
            await task


@pytest.mark.parametrize("target", ["/a b", "/a\r\nX: y", "/ä"])
async def test_a_path_that_cannot_stand_in_a_head_is_not_sent(target: str) -> None:
    async with connected(politely) as (lanes, came):
        with pytest.raises(TransportError, match="cannot be sent") as caught:
            await post(lanes, target)
        assert not caught.value.sent
        assert not came


async def test_a_server_that_is_not_there_got_nothing() -> None:
    lanes = Lanes(Address.of("http://127.0.0.1:1"), None, None, 1000)
    with pytest.raises(TransportError) as caught:
        await post(lanes)
    assert not caught.value.sent


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("https://a.b", Address("a.b", 443, "a.b", "")),
        ("http://[::1]:8080/p", Address("::1", 8080, "[::1]:8080", "/p")),
        ("http://a", Address("a", 80, "a", "")),
    ],
)
def test_an_address_is_read_from_the_server_s_url(server: str, expected: Address) -> None:
    assert Address.of(server) == expected
