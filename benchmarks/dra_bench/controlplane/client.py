"""A small blocking JSON client of the API server, for readiness and for tests; not for measurements."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from dra_bench.controlplane.errors import RequestFailedError
from dra_bench.controlplane.kubeconfig import Connection

TIMEOUT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Status code and decoded body; the body is ``{}`` when there is none."""

    status: int
    body: dict[str, Any]

    @property
    def message(self) -> str:
        """The text of a Kubernetes Status object, or an empty text."""
        return str(self.body.get("message", ""))


class Client:
    """Requests as one user, a fresh connection each, so that a restarted server needs no care."""

    def __init__(self, connection: Connection, *, timeout: float = TIMEOUT_SECONDS) -> None:
        address = urlsplit(connection.server)
        self._host, self._port = address.hostname or "", address.port or 443
        self._token = connection.user.token
        self._timeout = timeout
        self._tls = ssl.create_default_context(cadata=connection.certificate_authority.decode())

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Answer:
        """Send one request and return whatever the server answers, errors included.

        Raises:
            RequestFailedError: no connection, a cut one, a time-out, or an answer that is not a JSON object.

        """
        sent = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", **(headers or {})}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            sent["Content-Type"] = content_type
        status, content = self.raw(method, f"{path}?{urlencode(query)}" if query else path, payload, sent)
        if not content:
            return Answer(status, {})
        try:
            decoded = json.loads(content)
        except ValueError as error:
            raise RequestFailedError(f"{method} {path}: answered {status} with {content[:200]!r}, not JSON") from error
        if not isinstance(decoded, dict):
            raise RequestFailedError(f"{method} {path}: answered {status} with JSON that is no object")
        return Answer(status, decoded)

    def text(self, path: str) -> tuple[int, str]:
        """GET something that is not JSON, such as ``/metrics``, and return status code and text.

        Raises:
            RequestFailedError: no connection, a cut one or a time-out.

        """
        status, content = self.raw("GET", path, None, {"Authorization": f"Bearer {self._token}"})
        return status, content.decode(errors="replace")

    def raw(self, method: str, path: str, payload: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Send one request with exactly these headers and return status code and body.

        Raises:
            RequestFailedError: no connection, a cut one or a time-out.

        """
        connection = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls)
        try:
            connection.request(method, path, payload, dict(headers))
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise RequestFailedError(f"{method} {path} on {self._host}:{self._port}: {error}") from error
        finally:
            connection.close()
