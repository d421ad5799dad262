"""The web application: who is let in, what is refused, and clients that do not behave. Without sockets."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from dra_api.transport import Request
from dra_embedded.bodies import MAX_BODY
from dra_embedded.http import app as app_module
from dra_embedded.http.app import READ_SECONDS, Application
from dra_embedded.server import EmbeddedServer
from dra_embedded.virtual_time import VirtualClock, run_virtual

PODS = "/api/v1/namespaces/default/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


class Client:
    """One request; `reads` False: takes the status and nothing more."""

    def __init__(self, app: Application, method: str, path: str, **options: Any) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.reads = options.get("reads", True)
        self._body: list[bytes] = options.get("body") or [b""]
        self._gone = asyncio.Event()
        headers = {"authorization": "Bearer secret", **options.get("headers", {})}
        self._app = app
        self._scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": options.get("query", "").encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }

    async def run(self) -> Client:
        await self._app(self._scope, self._receive, self._send)
        return self

    def leave(self) -> None:
        self._gone.set()

    @property
    def body(self) -> Any:
        return orjson.loads(b"".join(self.pieces))

    async def _receive(self) -> dict[str, Any]:
        if self._body:
            return {"type": "http.request", "body": self._body.pop(0), "more_body": bool(self._body)}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif self.reads:
            self.pieces.append(message["body"])
        else:
            await asyncio.Event().wait()


def with_app(play: Any) -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        await play(server, Application(server, clock, "secret"))

    run_virtual(main)


@asynccontextmanager
async def running(client: Client) -> AsyncIterator[asyncio.Task[Client]]:
    task = asyncio.create_task(client.run())
    await asyncio.sleep(1)
    yield task
    client.leave()
    await task


async def create(server: EmbeddedServer, name: str) -> None:
    body = {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert (await server.send(Request("POST", PODS, {}, orjson.dumps(body)))).status == 201


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Basic secret", "Bearer secret "])
def test_nobody_is_let_in_without_the_token(authorization: str) -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        client = await Client(app, "GET", PODS, headers={"authorization": authorization}).run()
        assert (client.status, client.body["reason"]) == (401, "Unauthorized")

    with_app(play)


def test_probes_need_no_token() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        client = await Client(app, "GET", "/readyz", headers={"authorization": ""}).run()
        assert (client.status, client.pieces) == (200, [b"ok"])

    with_app(play)


def test_a_body_that_says_it_is_too_large_is_refused_unread() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        client = Client(app, "POST", PODS, headers={"content-length": str(20 * 1024 * 1024)}, body=[b"unread"])
        await client.run()
        assert (client.status, client.body["reason"]) == (413, "RequestEntityTooLarge")
        assert client._body == [b"unread"]

    with_app(play)


def test_a_body_that_turns_out_too_large_is_not_read_to_its_end() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        client = await Client(app, "POST", PODS, body=[b"x" * 1024 * 1024] * 20).run()
        assert client.status == 413
        assert len(client._body) == 20 - MAX_BODY // (1024 * 1024) - 1

    with_app(play)


def test_what_only_a_full_server_reads_is_refused_with_what_to_do() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        for method, kind, hint in (
            ("POST", "application/vnd.kubernetes.protobuf", "--dry-run=client -o yaml"),
            ("PATCH", "application/apply-patch+yaml", "leave out --server-side"),
        ):
            client = await Client(app, method, f"{PODS}/a", headers={"content-type": kind}, body=[b"k8s"]).run()
            assert (client.status, client.body["reason"]) == (415, "UnsupportedMediaType")
            assert hint in client.body["message"]

    with_app(play)


PROTOBUF = {"content-type": "application/vnd.kubernetes.protobuf"}


@pytest.mark.parametrize("path", ["/api/v1/namespaces/default/widgets", "/apis/example.com/v1/widgets"])
def test_a_kind_that_is_not_served_is_not_found_whatever_is_sent(path: str) -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        assert (await Client(app, "POST", path, headers=PROTOBUF, body=[b"k8s\x00"]).run()).status == 404

    with_app(play)


def test_questions_about_rights_are_answered_in_protobuf_too() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        client = await Client(app, "POST", path, headers=PROTOBUF, body=[b"k8s\x00"]).run()
        assert (client.status, client.body["status"]["allowed"]) == (201, True)

    with_app(play)


def test_a_deletion_has_its_options_in_protobuf_too() -> None:
    async def play(server: EmbeddedServer, app: Application) -> None:
        await create(server, "a")
        # A message Unknown with DeleteOptions: no grace period, and another uid as precondition.
        body = b"k8s\x00" + bytes([0x12, 7, 0x08, 0, 0x12, 3, 0x0A, 1]) + b"x"
        client = await Client(app, "DELETE", f"{PODS}/a", headers=PROTOBUF, body=[body]).run()
        assert (client.status, client.body["reason"]) == (409, "Conflict")
        fine = b"k8s\x00" + bytes([0x12, 2, 0x08, 0])
        assert (await Client(app, "DELETE", f"{PODS}/a", headers=PROTOBUF, body=[fine]).run()).status == 200
        assert (await server.send(Request("GET", f"{PODS}/a"))).status == 404

    with_app(play)


def test_logs_are_refused_with_a_reason() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        client = await Client(app, "GET", f"{PODS}/a/log").run()
        assert client.status == 405
        assert "nothing runs in the pods" in client.body["message"]

    with_app(play)


def test_a_watch_streams_and_ends_when_the_client_leaves() -> None:
    async def play(server: EmbeddedServer, app: Application) -> None:
        client = Client(app, "GET", PODS, query="watch=true")
        async with running(client):
            await create(server, "a")
            await asyncio.sleep(1)
            assert app.watches == 1
            assert [orjson.loads(piece)["object"]["metadata"]["name"] for piece in client.pieces] == ["a"]
        assert app.watches == 0

    with_app(play)


def test_a_watch_of_tables_has_a_table_with_one_row_for_each_event() -> None:
    async def play(server: EmbeddedServer, app: Application) -> None:
        client = Client(app, "GET", PODS, query="watch=true&includeObject=None", headers={"accept": TABLE})
        async with running(client):
            await create(server, "a")
            await asyncio.sleep(1)
        event = orjson.loads(client.pieces[0])
        assert (event["type"], event["object"]["kind"]) == ("ADDED", "Table")
        assert [row["cells"][0] for row in event["object"]["rows"]] == ["a"]
        assert event["object"]["rows"][0]["object"] is None

    with_app(play)


def test_a_thousand_watchers_all_hear_of_a_change() -> None:
    async def play(server: EmbeddedServer, app: Application) -> None:
        clients = [Client(app, "GET", PODS, query="watch=true") for _ in range(1000)]
        tasks = [asyncio.create_task(client.run()) for client in clients]
        await asyncio.sleep(1)
        assert app.watches == 1000
        await create(server, "a")
        await asyncio.sleep(1)
        assert all(len(client.pieces) == 1 for client in clients)
        for client in clients:
            client.leave()
        await asyncio.gather(*tasks)
        assert app.watches == 0

    with_app(play)


def test_one_watch_too_many_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MAX_WATCHES", 1)

    async def play(_server: EmbeddedServer, app: Application) -> None:
        async with running(Client(app, "GET", PODS, query="watch=true")):
            late = await Client(app, "GET", PODS, query="watch=true").run()
            assert (late.status, late.body["reason"]) == (429, "TooManyRequests")
            assert (late.headers["retry-after"], late.headers["connection"]) == ("1", "close")
        assert app.watches == 0

    with_app(play)


def test_who_never_reads_its_watch_is_cut_and_nobody_waits_for_it() -> None:
    async def play(server: EmbeddedServer, app: Application) -> None:
        loop = asyncio.get_running_loop()
        slow, quick = (Client(app, "GET", PODS, query="watch=true", reads=reads) for reads in (False, True))
        tasks = [asyncio.create_task(client.run()) for client in (slow, quick)]
        await asyncio.sleep(1)
        begin = loop.time()
        for number in range(50):
            await create(server, f"pod-{number}")
        await tasks[0]
        assert loop.time() - begin == pytest.approx(READ_SECONDS, abs=1)
        assert len(quick.pieces) == 50
        quick.leave()
        await tasks[1]
        assert app.watches == 0

    with_app(play)


def test_a_refused_watch_is_an_answer_like_any_other() -> None:
    async def play(_server: EmbeddedServer, app: Application) -> None:
        client = await Client(app, "GET", PODS, query="watch=true&resourceVersion=x").run()
        assert client.status == 400
        assert app.watches == 0

    with_app(play)
