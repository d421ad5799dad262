"""Requests that are checked, admitted and answered, and change nothing (`dryRun`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_api.transport import Request
from dra_api.validation.errors import not_supported
from dra_embedded.status import Subject, invalid

_ALL = "All"
_OPTIONS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"}


def is_dry_run(request: Request, options: Mapping[str, Any] | None = None) -> bool:
    """Whether the query, or the DeleteOptions of the body, ask for one. Raises StatusError (422) for another word."""
    asked = [request.query["dryRun"]] if request.query.get("dryRun") else []
    asked += (options or {}).get("dryRun") or []
    if wrong := [word for word in asked if word != _ALL]:
        problem = not_supported("dryRun", wrong[0], (_ALL,))
        raise invalid(Subject("meta.k8s.io", _OPTIONS.get(request.method, "Options")), "", [problem])
    return bool(asked)
