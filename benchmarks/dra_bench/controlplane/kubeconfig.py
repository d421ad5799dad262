"""Users of the control plane, how to reach it as one of them, and their kubeconfigs."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dra_bench.controlplane.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class User:
    """A user that the API server knows by a bearer token.

    ``key`` is our short name for it (also the kubeconfig's file name), ``name`` the one that RBAC sees.
    """

    key: str
    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)


def service_account(key: str, namespace: str, name: str) -> User:
    """Return a token user that RBAC takes for a ServiceAccount, so that bindings to the account apply to it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(key, f"system:serviceaccount:{namespace}:{name}", groups)


def standard_users() -> tuple[User, ...]:
    """Return fresh users: admin, the two components, the scheduler's ServiceAccount, and one without rights."""
    return (
        User("admin", "admin", ("system:masters",)),
        # One identity for all controllers: what is tested is the scheduler, and a controller without its own
        # ServiceAccount has no role that would do.
        User("kube-controller-manager", "system:kube-controller-manager", ("system:masters",)),
        User("kube-scheduler", "system:kube-scheduler"),
        service_account("dra-scheduler", "dra-scheduler", "dra-scheduler"),
        User("nobody", "nobody"),
    )


def token_file(users: Iterable[User]) -> str:
    """Return the text of kube-apiserver's ``--token-auth-file``: token, user, uid, "group,group" in each line.

    Raises:
        ConfigurationError: two users share a key.

    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    seen: set[str] = set()
    for user in users:
        if user.key in seen:
            raise ConfigurationError(f"users: there are two with the key {user.key!r}; give each its own")
        seen.add(user.key)
        writer.writerow([user.token, user.name, f"uid-{user.key}", ",".join(user.groups)])
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class Connection:
    """What a client needs to talk to the API server as one user."""

    server: str
    """The URL, for instance ``https://127.0.0.1:20123``."""
    certificate_authority: bytes
    """PEM of what the server's certificate is checked against."""
    user: User


def kubeconfig(connection: Connection) -> dict[str, Any]:
    """Return a kubeconfig with one cluster, one user and one context, as plain data."""
    authority = base64.b64encode(connection.certificate_authority).decode()
    name: Final = "controlplane"
    user = connection.user
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": connection.server, "certificate-authority-data": authority}}],
        "users": [{"name": user.key, "user": {"token": user.token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user.key, "namespace": "default"}}],
        "current-context": name,
    }


def write_kubeconfig(connection: Connection, path: Path) -> Path:
    """Write the kubeconfig, readable by its owner only, as JSON (which is YAML), and return ``path``."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(kubeconfig(connection), file, indent=2)
        file.write("\n")
    return path
