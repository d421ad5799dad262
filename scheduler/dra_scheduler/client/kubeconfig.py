"""From a kubeconfig, or from inside a pod, to an endpoint and credentials; read with kubernetes_asyncio's loaders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from dra_api.clock import Clock
from dra_scheduler.client.credentials import (
    Credentials,
    FixedCredentials,
    Issued,
    IssuedCredentials,
    Secret,
    TokenFile,
    bearer,
)
from dra_scheduler.client.errors import ConnectError
from dra_scheduler.client.exec_plugin import ExecPlugin
from dra_scheduler.client.http_transport import Endpoint
from dra_scheduler.client.lean_import import configuring
from dra_scheduler.client.proxy import environment_proxy
from dra_scheduler.client.tls import TlsFiles

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
ANONYMOUS = "(none)"
IMPERSONATION = ("as", "as-uid", "as-groups", "as-user-extra")
NOWHERE = (
    "no way to a cluster: there is no {default}, KUBECONFIG is not set, and this is no pod. "
    "Name a kubeconfig with --kubeconfig, or try `dra-scheduler demo`, which needs no cluster"
)


@dataclass(frozen=True, slots=True)
class Access:
    """An endpoint and who we are there."""

    endpoint: Endpoint
    credentials: Credentials
    source: str
    """Where it came from, for logs: a file and a context, or `in-cluster`."""
    namespace: str = ""
    """The namespace that the context is for; empty: none."""


async def find_access(
    kubeconfig: str | None, context: str | None, clock: Clock, environ: Mapping[str, str] = os.environ
) -> Access:
    """The kubeconfig named; else KUBECONFIG; else ~/.kube/config; else the service account of the pod we run in.

    Raises ConnectError, naming file and field.
    """
    paths = _find_kubeconfig(kubeconfig, environ)
    if paths:
        access = await load_kubeconfig(paths, context, clock)
    elif context is not None:
        raise ConnectError(f"--context {context}: there is no kubeconfig to look it up in")
    elif environ.get("KUBERNETES_SERVICE_HOST"):
        access = load_in_cluster(clock, environ)
    else:
        raise ConnectError(NOWHERE.format(default=_default_kubeconfig(environ)))
    if access.endpoint.proxy is None:
        proxy = environment_proxy(access.endpoint.server, environ)
        access = replace(access, endpoint=replace(access.endpoint, proxy=proxy))
    return access


def _default_kubeconfig(environ: Mapping[str, str]) -> str:
    return str(Path(environ.get("HOME") or "~").expanduser() / ".kube" / "config")


def _find_kubeconfig(named: str | None, environ: Mapping[str, str]) -> str | None:
    if named is not None:
        if not os.path.exists(named):
            raise ConnectError(f"kubeconfig {named}: no such file")
        return named
    default = _default_kubeconfig(environ)
    return environ.get("KUBECONFIG") or (default if os.path.exists(default) else None)


def load_in_cluster(clock: Clock, environ: Mapping[str, str], directory: str = SERVICE_ACCOUNT) -> Access:
    """The pod's service account; its token is read again as it rotates. Raises ConnectError."""
    tools = configuring()
    configuration = tools.configuration()
    token = Path(directory) / "token"
    try:
        loader = tools.in_cluster(
            token_filename=str(token), cert_filename=str(Path(directory) / "ca.crt"), environ=dict(environ)
        )
        loader.load_and_set(configuration)
    except (tools.error, OSError) as error:
        raise ConnectError(f"in-cluster configuration in {directory}: {error}") from error
    endpoint = Endpoint(configuration.host.rstrip("/"), TlsFiles(ca=configuration.ssl_ca_cert))
    return Access(endpoint, TokenFile(token, clock), "in-cluster")


async def load_kubeconfig(paths: str, context: str | None, clock: Clock) -> Access:
    """One kubeconfig or several, separated as in KUBECONFIG; `context` None: the current one. Raises ConnectError."""
    tools = configuring()
    try:
        merged = tools.merger(paths).config
        if merged is None:
            raise ConnectError(f"kubeconfig {paths}: no such file")
        name = context or merged.safe_get("current-context")
        if not name:
            raise ConnectError(f"kubeconfig {paths}: current-context is not set; choose one with --context")
        _require_context(paths, merged, name)
        access = await _load(merged, name, f"{paths} context {name}", clock)
        chosen = merged["contexts"].get_with_name(name)["context"]
        return replace(access, namespace=str(chosen.safe_get("namespace") or ""))
    except yaml.MarkedYAMLError as error:
        # Its own text quotes the line, which may be the one with the token.
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise ConnectError(f"kubeconfig {paths}{where}: not YAML: {error.problem}") from None
    except ConnectError as error:
        raise error if str(error).startswith("kubeconfig") else ConnectError(f"kubeconfig {paths}: {error}") from error
    except tools.error as error:
        raise ConnectError(f"kubeconfig {paths}: {error}") from error
    except OSError as error:
        which = "" if str(error.filename) == str(paths) else f": {error.filename}"
        raise ConnectError(f"kubeconfig {paths}: {(error.strerror or str(error)).lower()}{which}") from error
    except UnicodeDecodeError as error:
        raise ConnectError(f"kubeconfig {paths}: is not text in UTF-8") from error
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConnectError(f"kubeconfig {paths}: malformed ({type(error).__name__})") from error


def _require_context(paths: str, merged: Any, name: str) -> None:
    names = [str(entry["name"]) for entry in merged.value.get("contexts") or ()]
    if name not in names:
        raise ConnectError(f"kubeconfig {paths}: no context {name!r}; there are: {', '.join(sorted(names)) or 'none'}")


async def _load(merged: Any, name: str, source: str, clock: Clock) -> Access:
    tools = configuring()
    chosen = merged["contexts"].get_with_name(name)["context"]
    cluster = merged["clusters"].get_with_name(chosen["cluster"])["cluster"]
    user, base = _take_user(merged, chosen)
    _refuse_unsupported(user)
    loader = tools.loader(config_dict=merged, active_context=name, config_base_path=None)
    configuration = tools.configuration()
    await loader.load_and_set(configuration)
    endpoint = _endpoint(configuration)
    if "exec" in user:
        plugin = ExecPlugin.parse(user["exec"], base, _cluster_info(cluster, configuration))
        return Access(endpoint, IssuedCredentials(plugin.run, clock), source)
    if "tokenFile" in user:
        return Access(endpoint, TokenFile(Path(base, user["tokenFile"]), clock), source)
    if "auth-provider" in user:
        return Access(endpoint, IssuedCredentials(_provider(loader, configuration), clock), source)
    authorization = configuration.api_key.get("BearerToken")
    if authorization is not None and "token" in user:
        authorization = bearer(str(user["token"]), "users[].user.token")
    return Access(endpoint, FixedCredentials(Secret(authorization)), source)


def _take_user(merged: Any, chosen: Any) -> tuple[dict[str, Any], str]:
    """The context's user and the directory its paths are relative to.

    The loader is left a user without the parts that we do better: it never reads a token file again, does not tell
    exec plugins what cluster they are for, and has no notion of a context without a user.
    """
    found = merged["users"].get_with_name(chosen["user"]) if chosen.safe_get("user") else None
    if found is None:
        chosen.value["user"] = ANONYMOUS
        merged.value.setdefault("users", []).append({"name": ANONYMOUS, "user": {}})
        return {}, ""
    content = found.safe_get("user")
    user: dict[str, Any] = dict(content) if content else {}
    found.value["user"] = {key: value for key, value in user.items() if key not in ("exec", "tokenFile")}
    return user, str(Path(found.path or "").absolute().parent)


def _refuse_unsupported(user: Mapping[str, Any]) -> None:
    present = [key for key in IMPERSONATION if user.get(key)]
    if present:
        raise ConnectError(f"users[].user.{present[0]}: impersonation is not supported")


def _endpoint(configuration: Any) -> Endpoint:
    server = configuration.host.rstrip("/")
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConnectError(f"clusters[].cluster.server: {server!r} is not an http or https address")
    proxy = configuration.proxy
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise ConnectError("clusters[].cluster.proxy-url: only http and https proxies are supported")
    files = TlsFiles(
        ca=configuration.ssl_ca_cert,
        certificate=configuration.cert_file,
        key=configuration.key_file,
        verify=bool(configuration.verify_ssl),
    )
    return Endpoint(server, files, configuration.tls_server_name, proxy or None)


def _cluster_info(cluster: Any, configuration: Any) -> dict[str, Any]:
    """What an exec plugin with provideClusterInfo is told, as ExecCredential.spec.cluster."""
    info: dict[str, Any] = {"server": configuration.host}
    fields = ("tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    info |= {field: cluster.safe_get(field) for field in fields if cluster.safe_get(field)}
    for extension in cluster.value.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return info


def _provider(loader: Any, configuration: Any) -> Any:
    """The old auth providers (oidc, gcp), renewed by the loader itself when it finds them expired."""

    async def issue() -> Issued:
        error = configuring().error
        try:
            await loader.load_and_set(configuration)
        except (error, OSError, ValueError) as problem:
            raise ConnectError(f"auth-provider: {problem}") from None
        return Issued(Secret(configuration.api_key.get("BearerToken")))

    return issue
