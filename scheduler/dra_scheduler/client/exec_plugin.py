"""Exec plugins of a kubeconfig (client.authentication.k8s.io): a program that prints a credential.

What it prints to stderr goes into our error, its last line only; what it prints to stdout is secret and goes nowhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from dra_scheduler.client.credentials import Issued, Secret, bearer
from dra_scheduler.client.errors import ConnectError

TIMEOUT = 60.0
"""Seconds that a plugin may take."""
OUTPUT_LIMIT = 1_000_000
"""Bytes of output at most."""
STDERR_SHOWN = 200
VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """The `exec` part of a kubeconfig's user."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    api_version: str
    cluster: Mapping[str, Any] | None
    """For `provideClusterInfo`: server, certificate-authority-data, tls-server-name, ..."""

    @classmethod
    def parse(cls, config: Mapping[str, Any], base: str, cluster: Mapping[str, Any]) -> ExecPlugin:
        """Read a user's `exec`; a relative command with a slash is relative to `base`, the kubeconfig's directory.

        Raises ConnectError naming the field.
        """
        command = config.get("command")
        if not isinstance(command, str) or not command:
            raise ConnectError("users[].user.exec.command: required")
        version = config.get("apiVersion")
        if version not in VERSIONS:
            raise ConnectError(
                f"users[].user.exec.apiVersion: {version!r} is not supported; use {' or '.join(VERSIONS)}"
            )
        if config.get("interactiveMode") == "Always":
            raise ConnectError("users[].user.exec.interactiveMode: Always cannot work here, nobody can be asked")
        if os.sep in command and not os.path.isabs(command):
            command = os.path.join(base, command)
        if shutil.which(command) is None:
            hint = config.get("installHint")
            raise ConnectError(f"users[].user.exec.command: {command!r} not found" + (f"; {hint}" if hint else ""))
        env = {str(entry["name"]): str(entry["value"]) for entry in config.get("env") or ()}
        info = cluster if config.get("provideClusterInfo") else None
        return cls(command, tuple(str(arg) for arg in config.get("args") or ()), env, version, info)

    async def run(self) -> Issued:
        """Run the program. Raises ConnectError."""
        spec: dict[str, Any] = {"interactive": False}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        environ = {**os.environ, **self.env, "KUBERNETES_EXEC_INFO": orjson.dumps(info).decode()}
        try:
            process = await asyncio.create_subprocess_exec(
                self.command,
                *self.args,
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=OUTPUT_LIMIT,
            )
        except OSError as error:
            raise ConnectError(f"exec plugin {self.command}: {error.strerror}") from error
        try:
            async with asyncio.timeout(TIMEOUT):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise ConnectError(f"exec plugin {self.command}: no answer within {TIMEOUT:.0f} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            lines = err.decode("utf-8", "replace").strip().splitlines() or ["(no message)"]
            shown = lines[-1][:STDERR_SHOWN]
            raise ConnectError(f"exec plugin {self.command}: exit code {process.returncode}: {shown}")
        return self._read(out[:OUTPUT_LIMIT])

    def _read(self, output: bytes) -> Issued:
        try:
            answer = orjson.loads(output)
            status = answer["status"]
            version, kind = answer["apiVersion"], answer["kind"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise ConnectError(f"exec plugin {self.command}: the output is no ExecCredential with a status") from None
        if version != self.api_version or kind != "ExecCredential" or not isinstance(status, dict):
            raise ConnectError(f"exec plugin {self.command}: the output is not of {self.api_version} ExecCredential")
        token, certificate, key = (
            status.get(name) or None for name in ("token", "clientCertificateData", "clientKeyData")
        )
        if (certificate is None) != (key is None) or (token is None and certificate is None):
            raise ConnectError(
                f"exec plugin {self.command}: status needs token, or clientCertificateData with clientKeyData"
            )
        secret = Secret(
            authorization=bearer(str(token), f"exec plugin {self.command}: token") if token is not None else None,
            certificate=str(certificate).encode() if certificate is not None else None,
            key=str(key).encode() if key is not None else None,
        )
        return Issued(secret, self._expiry(status.get("expirationTimestamp")))

    def _expiry(self, text: object) -> datetime | None:
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(str(text))
        except ValueError:
            raise ConnectError(f"exec plugin {self.command}: status.expirationTimestamp is no RFC 3339 time") from None
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
