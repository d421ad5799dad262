"""From an API server's error answers (`kind: Status`) to exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from dra_api.transport import Response
from dra_scheduler.client.errors import BY_STATUS, ApiStatusError, Cause

MESSAGE_LIMIT = 4096
"""Characters kept of a server's message; a proxy's whole error page helps nobody."""


def error_of(response: Response) -> ApiStatusError:
    """Return the exception for an answer with an error status."""
    try:
        body = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        body = None
    after = _seconds(response.headers.get("retry-after"))
    if not isinstance(body, dict) or body.get("kind") != "Status":
        # Probes and proxies answer in plain text.
        text = response.body[:MESSAGE_LIMIT].decode("utf-8", "replace").strip()
        return BY_STATUS.get(response.status, ApiStatusError)(response.status, "", text or "(empty)", (), after)
    return error_of_status(body, response.status, after)


def error_of_status(status: Mapping[str, Any], code: int = 0, retry_after: float | None = None) -> ApiStatusError:
    """Return the exception for a Status object: an answer's body, or what an ERROR event of a watch carries.

    `code` and `retry_after` (seconds) are the answer's own; the Status says them too, and is asked where they lack.
    """
    code = code or _int(status.get("code"))
    details = status.get("details")
    details = details if isinstance(details, dict) else {}
    if retry_after is None:
        retry_after = _seconds(details.get("retryAfterSeconds"))
    return BY_STATUS.get(code, ApiStatusError)(
        code,
        str(status.get("reason") or ""),
        str(status.get("message") or "")[:MESSAGE_LIMIT],
        _causes(details.get("causes")),
        retry_after,
    )


def _causes(causes: object) -> tuple[Cause, ...]:
    if not isinstance(causes, list):
        return ()
    return tuple(
        Cause(str(c.get("field") or ""), str(c.get("reason") or ""), str(c.get("message") or "")[:MESSAGE_LIMIT])
        for c in causes
        if isinstance(c, dict)
    )


def _int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _seconds(value: object) -> float | None:
    """Whole seconds as Kubernetes sends them; None when absent, zero or something else (an HTTP date)."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
