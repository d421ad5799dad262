"""A transport that answers certain requests with 403."""

from __future__ import annotations

from typing import Any

import orjson

from dra_api.transport import Request, Response, Transport


class Refusing:
    """Answers certain requests with an error as long as `on`; passes on the rest."""

    def __init__(
        self, inner: Transport, method: str, ending: str, message: str = "refused", *, holding: bytes = b""
    ) -> None:
        self._inner = inner
        self._method, self._ending, self._holding = method, ending, holding
        self._body = orjson.dumps({"kind": "Status", "code": 403, "reason": "Forbidden", "message": message})
        self.on = True
        self.count = 0

    async def send(self, request: Request) -> Response:
        meant = request.method == self._method and request.path.endswith(self._ending)
        if self.on and meant and self._holding in (request.body or b""):
            self.count += 1
            return Response(403, self._body)
        return await self._inner.send(request)

    def watch(self, request: Request) -> Any:
        return self._inner.watch(request)
