from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from dra_api.transport import Request, WatchRefusedError
from dra_embedded.server import EmbeddedServer
from dra_scheduler.cli.gates import feature_gates
from dra_scheduler.cli.main import main
from dra_scheduler.cli.run import add_arguments
from dra_scheduler.http import listen
from dra_scheduler.system_clock import SystemClock
from support.https import serve

COMMAND = [sys.executable, "-m", "dra_scheduler.cli.main", "run"]


@asynccontextmanager
async def api_server(tmp_path: Path, **options: object) -> AsyncIterator[tuple[EmbeddedServer, Path]]:
    """The embedded API server behind a real socket, and a kubeconfig for it."""
    backend = EmbeddedServer(SystemClock(), random.Random(1), **options)  # type: ignore[arg-type]

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await request.read() or None
        content_type = request.headers.get("Content-Type", "application/json")
        sent = Request(request.method, request.path, dict(request.query), body, content_type)
        if "watch" not in sent.query:
            answer = await backend.send(sent)
            return web.Response(status=answer.status, body=answer.body, content_type="application/json")
        response = web.StreamResponse()
        try:
            async with backend.watch(sent) as lines:
                await response.prepare(request)
                async for line in lines:
                    await response.write(line.rstrip(b"\n") + b"\n")
        except WatchRefusedError as error:
            return web.Response(status=error.response.status, body=error.response.body)
        return response

    async with serve(handler) as server:
        file = tmp_path / "kubeconfig"
        file.write_text(
            "current-context: c\n"
            "contexts: [{name: c, context: {cluster: c}}]\n"
            f"clusters: [{{name: c, cluster: {{server: '{server.url}'}}}}]\n"
        )
        yield backend, file


def free_port() -> int:
    with listen("127.0.0.1:0") as listener:
        port: int = listener.getsockname()[1]
        return port


async def start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, stderr=asyncio.subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )


async def end(process: asyncio.subprocess.Process, number: signal.Signals | None = None) -> tuple[int | None, str]:
    if number is not None:
        process.send_signal(number)
    async with asyncio.timeout(30):
        _, err = await process.communicate()
    return process.returncode, err.decode()


async def line_with(process: asyncio.subprocess.Process, text: str) -> str:
    assert process.stderr is not None
    async with asyncio.timeout(30):
        async for line in process.stderr:
            if text in line.decode():
                return line.decode()
    raise AssertionError(f"ended without {text!r}")


async def test_it_gets_ready_answers_probes_and_stops_in_order_when_told(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    async with api_server(tmp_path) as (_, kubeconfig):
        process = await start("--kubeconfig", str(kubeconfig), "--http", address)
        await line_with(process, "ready nodes=0 pods=0")
        async with aiohttp.ClientSession() as session:
            for path in ("/livez", "/readyz", "/metrics"):
                async with asyncio.timeout(20):
                    text = await fetch(session, f"http://{address}{path}")
        assert 'dra_scheduler_objects{resource="pods"} 0' in text
        code, _ = await end(process, signal.SIGTERM)
        assert code == 0


async def fetch(session: aiohttp.ClientSession, url: str) -> str:
    """Ask until the server is there, it is imported while the first lists come in."""
    while True:
        try:
            async with session.get(url) as answer:
                assert answer.status == 200
                return await answer.text()
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.05)


async def test_an_api_server_that_is_not_there_yet_is_waited_for_and_waiting_can_be_stopped(tmp_path: Path) -> None:
    async with api_server(tmp_path) as (_, kubeconfig):
        pass
    process = await start("--kubeconfig", str(kubeconfig))
    await line_with(process, "API server not reachable, waiting for it")
    code, _ = await end(process, signal.SIGINT)
    assert code == 0


async def test_a_cluster_without_the_api_is_exit_code_3(tmp_path: Path) -> None:
    async with api_server(tmp_path, dra_versions=()) as (_, kubeconfig):
        code, err = await end(await start("--kubeconfig", str(kubeconfig)))
    assert code == 3
    assert "error: the API server serves no resource.k8s.io: Dynamic Resource Allocation is off" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kubeconfig", "nowhere"], "error: kubeconfig nowhere: no such file"),
        (["--http", "8080"], "error: '8080' is not HOST:PORT"),
        (["--max-in-flight", "0"], "error: max_in_flight: Input should be greater than or equal to 1"),
        (["--binding-timeout", "0s"], "error: binding_timeout: Input should be greater than 0"),
    ],
)
def test_what_is_wrong_with_the_call_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        ("DRAAdminAcess=true", "did you mean DRAAdminAccess?"),
        ("Nonsense=true", "those that decide something here are DRAAdminAccess"),
        ("DRAAdminAccess", "is not GATE=true or GATE=false"),
        ("DRAAdminAccess=yes", "is not GATE=true or GATE=false"),
    ],
)
def test_a_wrong_feature_gate_is_a_usage_error(gates: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", "--feature-gates", gates])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_feature_gates_are_read_as_kubernetes_writes_them() -> None:
    assert feature_gates("DRAAdminAccess=False, DRADeviceTaints=true,") == {
        "DRAAdminAccess": False,
        "DRADeviceTaints": True,
    }


def test_feature_gates_in_kube_schedulers_other_forms_are_read_too() -> None:
    assert feature_gates("kube:DRAAdminAccess=0,DRADeviceTaints=t, kube:DRAExtendedResource=True") == {
        "DRAAdminAccess": False,
        "DRADeviceTaints": True,
        "DRAExtendedResource": True,
    }


def test_feature_gates_that_are_given_several_times_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = ["DRADerivedAttributes=true,DRAAdminAccess=true", "DRAAdminAccess=false"]
    for _ in range(2):  # what was given to one call is not there in the next
        given = parser.parse_args([part for word in words for part in ("--feature-gates", word)])
        assert given.feature_gates == {"DRADerivedAttributes": True, "DRAAdminAccess": False}
        assert parser.parse_args([]).feature_gates == {}
    against = ["GenericWorkload=false", "DRAWorkloadResourceClaims=true"]
    with pytest.raises(SystemExit):
        parser.parse_args([part for word in against for part in ("--feature-gates", word)])
    assert "needs GenericWorkload=true, which is given as false" in capsys.readouterr().err


def test_help_is_quick_and_names_every_option() -> None:
    out = subprocess.run([*COMMAND, "--help"], check=True, capture_output=True, text=True, timeout=30).stdout
    for option in ("--kubeconfig", "--context", "--scheduler-name", "--http", "--feature-gates", "--filter-timeout"):
        assert option in out
