from __future__ import annotations

import base64
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_scheduler.client import exec_plugin
from dra_scheduler.client.connection import connect
from dra_scheduler.client.credentials import Secret
from dra_scheduler.client.errors import ConnectError
from dra_scheduler.client.kubeconfig import Access, find_access, load_in_cluster, load_kubeconfig
from dra_scheduler.system_clock import SystemClock
from support.https import Authority

CLOCK = SystemClock()
TOKEN = "very-secret-token"


def write(folder: Path, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **rest: Any) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "main",
        "contexts": [{"name": "main", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443/"} | (cluster or {})}],
        "users": [{"name": "u", "user": user if user is not None else {"token": TOKEN}}],
    } | rest
    file = folder / "config"
    file.write_text(yaml.safe_dump(config))
    return file


async def load(file: Path, context: str | None = None) -> Access:
    return await load_kubeconfig(str(file), context, CLOCK)


async def test_a_token_in_the_file(tmp_path: Path) -> None:
    access = await load(write(tmp_path))
    assert access.endpoint.server == "https://127.0.0.1:6443"
    assert (await access.credentials.current()).authorization == f"Bearer {TOKEN}"
    assert access.endpoint.tls.verify


async def test_a_password_in_the_file(tmp_path: Path) -> None:
    access = await load(write(tmp_path, {"username": "a", "password": "b"}))
    expected = base64.b64encode(b"a:b").decode()
    assert (await access.credentials.current()).authorization == f"Basic {expected}"


async def test_certificates_as_data_and_as_files_relative_to_the_kubeconfig(tmp_path: Path) -> None:
    files = Authority(tmp_path).issue("client")
    ca = base64.b64encode((tmp_path / "test-authority.crt").read_bytes()).decode()
    user = {"client-certificate": "client.crt", "client-key": "client.key"}
    cluster = {"certificate-authority-data": ca, "tls-server-name": "kubernetes"}
    access = await load(write(tmp_path, user, cluster))
    assert access.endpoint.tls.certificate == str(files.certificate)
    assert access.endpoint.server_name == "kubernetes"
    access.endpoint.tls.context(Secret())


async def test_a_token_file_relative_to_the_kubeconfig_is_read_when_needed(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("one\n")
    access = await load(write(tmp_path, {"tokenFile": "token"}))
    secret = await access.credentials.current()
    assert secret.authorization == "Bearer one"
    (tmp_path / "token").write_text("two\n")
    assert (await access.credentials.renew(secret)).authorization == "Bearer two"


@pytest.mark.parametrize(
    "rest",
    [
        {"contexts": [{"name": "main", "context": {"cluster": "c"}}]},
        {"users": [{"name": "u", "user": None}]},
        {"users": None, "contexts": [{"name": "main", "context": {"cluster": "c"}}]},
    ],
)
async def test_a_context_without_a_user_is_anonymous(tmp_path: Path, rest: dict[str, Any]) -> None:
    access = await load(write(tmp_path, **rest))
    assert await access.credentials.current() == Secret()


async def test_another_context_and_several_files(tmp_path: Path) -> None:
    first = write(tmp_path)
    second = tmp_path / "second"
    second.mkdir()
    (second / "token").write_text("two")
    other = write(
        second,
        contexts=[{"name": "other", "context": {"cluster": "d", "user": "v"}}],
        clusters=[{"name": "d", "cluster": {"server": "http://127.0.0.1:8001"}}],
        users=[{"name": "v", "user": {"tokenFile": "token"}}],
    )
    access = await load_kubeconfig(f"{first}:{other}", "other", CLOCK)
    assert access.endpoint.server == "http://127.0.0.1:8001"
    assert (await access.credentials.current()).authorization == "Bearer two"


@pytest.mark.parametrize(
    ("user", "cluster", "rest", "message"),
    [
        (None, None, {"current-context": ""}, "current-context is not set; choose one with --context"),
        (None, None, {"current-context": "x"}, "no context 'x'; there are: main"),
        (None, None, {"clusters": []}, "Expected object with name c in .*clusters"),
        (None, {"server": "localhost:6443"}, {}, "is not an http or https address"),
        (None, {"proxy-url": "socks5://x"}, {}, "only http and https proxies"),
        ({"as": "somebody"}, None, {}, r"users\[\].user.as: impersonation is not supported"),
        ({"client-certificate": "none.crt"}, None, {}, "none.crt"),
        ({"client-certificate-data": "odd"}, None, {}, "malformed"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, None, {}, "exec.command: required"),
        ({"exec": {"command": "x", "apiVersion": "v0"}}, None, {}, "exec.apiVersion: 'v0' is not supported"),
        (
            {"exec": {"command": "no-such-plugin", "apiVersion": exec_plugin.VERSIONS[0], "installHint": "get it"}},
            None,
            {},
            "'no-such-plugin' not found; get it",
        ),
        ({"token": TOKEN}, None, {"contexts": 7}, "malformed"),
        ({"token": f"{TOKEN}\nX-Evil: 1"}, None, {}, r"users\[\].user.token: not one word"),
    ],
)
async def test_what_is_wrong_is_named_with_the_file_and_without_secrets(
    tmp_path: Path, user: Any, cluster: Any, rest: dict[str, Any], message: str
) -> None:
    file = write(tmp_path, user, cluster, **rest)
    with pytest.raises(ConnectError, match=message) as caught:
        await load(file)
    assert str(caught.value).startswith(f"kubeconfig {file}")
    assert TOKEN not in str(caught.value)


async def test_broken_yaml_is_named_by_line_without_quoting_it(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(f"users:\n- user: {{token: {TOKEN}\n")
    with pytest.raises(ConnectError, match=r"config:3:1: not YAML") as caught:
        await load(file)
    assert TOKEN not in str(caught.value)


async def test_a_missing_file_and_no_way_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="nowhere: no such file"):
        await find_access(str(tmp_path / "nowhere"), None, CLOCK, {})
    with pytest.raises(ConnectError, match=r"no way to a cluster.*dra-scheduler demo"):
        await find_access(None, None, CLOCK, {"HOME": str(tmp_path)})
    with pytest.raises(ConnectError, match="--context x: there is no kubeconfig"):
        await find_access(None, "x", CLOCK, {"HOME": str(tmp_path)})


async def test_the_environment_names_the_file_and_home_is_the_default(tmp_path: Path) -> None:
    file = write(tmp_path)
    named = await find_access(None, None, CLOCK, {"KUBECONFIG": str(file), "HOME": "/nowhere"})
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube")
    default = await find_access(None, None, CLOCK, {"HOME": str(tmp_path)})
    assert named.source == f"{file} context main"
    assert default.source == f"{tmp_path}/.kube/config context main"


async def test_inside_a_pod_the_service_account_is_used_and_its_token_rotates(tmp_path: Path) -> None:
    Authority(tmp_path).file.rename(tmp_path / "ca.crt")
    (tmp_path / "token").write_text("one\n")
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    access = load_in_cluster(CLOCK, environ, str(tmp_path))
    assert access.endpoint.server == "https://[fd00::1]:443"
    secret = await access.credentials.current()
    assert secret.authorization == "Bearer one"
    (tmp_path / "token").write_text("two\n")
    assert (await access.credentials.renew(secret)).authorization == "Bearer two"
    with pytest.raises(ConnectError, match=r"in-cluster configuration in .*token file"):
        load_in_cluster(CLOCK, environ, str(tmp_path / "none"))


def plugin(folder: Path, script: str, name: str = "plugin") -> str:
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport json, os, sys\n{script}")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return f"./{name}"


def print_status(status: str) -> str:
    body = f'{{"apiVersion": "{exec_plugin.VERSIONS[0]}", "kind": "ExecCredential", "status": {status}}}'
    return f"print(json.dumps({body}))"


def with_plugin(command: str, **rest: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": exec_plugin.VERSIONS[0], "command": command, **rest}}


async def test_a_plugin_gets_arguments_environment_and_the_cluster_and_gives_a_token(tmp_path: Path) -> None:
    script = print_status(
        '{"token": sys.argv[1] + os.environ["EXTRA"] + '
        'json.loads(os.environ["KUBERNETES_EXEC_INFO"])["spec"]["cluster"]["server"]}'
    )
    env = [{"name": "EXTRA", "value": "-b-"}]
    user = with_plugin(plugin(tmp_path, script), args=["a"], env=env, provideClusterInfo=True)
    access = await load(write(tmp_path, user))
    assert (await access.credentials.current()).authorization == "Bearer a-b-https://127.0.0.1:6443"


async def test_a_plugin_s_token_is_kept_until_it_expires_or_is_rejected(tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("")
    script = f"open({str(count)!r}, 'a').write('x')\n" + print_status(
        f'{{"token": "t%d" % len(open({str(count)!r}).read()), "expirationTimestamp": "2999-01-01T00:00:00Z"}}'
    )
    access = await load(write(tmp_path, with_plugin(plugin(tmp_path, script))))
    secret = await access.credentials.current()
    assert secret == await access.credentials.current()
    assert (await access.credentials.renew(secret)).authorization == "Bearer t2"
    assert count.read_text() == "xx"


async def test_a_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    script = print_status('{"clientCertificateData": "C", "clientKeyData": "K"}')
    access = await load(write(tmp_path, with_plugin(plugin(tmp_path, script))))
    secret = await access.credentials.current()
    assert (secret.authorization, secret.certificate, secret.key) == (None, b"C", b"K")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            f"print('{TOKEN}')\nprint('line one', file=sys.stderr)\nsys.exit('log in first')",
            "exit code 1: log in first",
        ),
        (f"print('{TOKEN}')", "no ExecCredential"),
        (print_status("{}"), "status needs token"),
        (print_status('{"clientCertificateData": "C"}'), "clientCertificateData with clientKeyData"),
        (print_status('{"token": "t", "expirationTimestamp": "soon"}'), "no RFC 3339 time"),
        ("print(json.dumps({'apiVersion': 'v2', 'kind': 'ExecCredential', 'status': {}}))", "is not of client.auth"),
    ],
)
async def test_a_plugin_that_fails_is_told_without_its_output(tmp_path: Path, script: str, message: str) -> None:
    access = await load(write(tmp_path, with_plugin(plugin(tmp_path, script))))
    with pytest.raises(ConnectError, match=message) as caught:
        await access.credentials.current()
    assert TOKEN not in str(caught.value)


async def test_a_plugin_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_plugin, "TIMEOUT", 0.2)
    access = await load(write(tmp_path, with_plugin(plugin(tmp_path, "import time; time.sleep(60)"))))
    with pytest.raises(ConnectError, match="no answer within"):
        await access.credentials.current()


async def test_connecting_asks_for_credentials_at_once_and_shows_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    transport = await connect(str(write(tmp_path)), None, CLOCK)
    await transport.close()
    failing = write(tmp_path, with_plugin(plugin(tmp_path, "sys.exit('no')")))
    with pytest.raises(ConnectError, match="exit code 1"):
        await connect(str(failing), None, CLOCK)
    empty = base64.b64encode(b"no certificate").decode()
    unusable = write(tmp_path, {"client-certificate-data": empty, "client-key-data": empty})
    with pytest.raises(ConnectError, match="client certificate"):
        await connect(str(unusable), None, CLOCK)
    assert TOKEN not in caplog.text
    assert "server=https://127.0.0.1:6443" in caplog.text


def test_a_secret_has_no_readable_form() -> None:
    secret = Secret(f"Bearer {TOKEN}", b"certificate", b"key")
    assert repr(secret) == str(secret) == "Secret()"
