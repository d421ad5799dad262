"""The one way to an API server, real or embedded: requests and watch streams in the server's own terms.

Both servers are used through this protocol, so that whoever talks to one talks to the other: the contract test suite
runs unchanged against both, and the scheduler does not know which it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


class TransportError(Exception):
    """No answer: connection refused, cut, or timed out. Whether the request took effect is unknown.

    `sent` false: the request certainly did not reach the server.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Request:
    """A request; `path` starts with a slash, `query` values are not yet escaped, `body` is encoded JSON."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = JSON


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, whatever its status; `headers` are lower case (`retry-after`, `content-type`)."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport(Protocol):
    """An API server."""

    async def send(self, request: Request) -> Response:
        """Send a request and return the answer. Raises TransportError if there is none."""
        ...

    def watch(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a watch (`watch=true` is in the query): yields one JSON event a line until the server ends it.

        Entering raises WatchRefusedError when the answer's status is not 200; iteration raises TransportError when the
        stream is cut.
        """
        ...


class WatchRefusedError(Exception):
    """The server answered a watch with a status other than 200; `response` has its body."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"the watch was refused with status {response.status}")
        self.response = response
