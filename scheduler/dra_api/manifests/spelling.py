"""Old and mistaken spellings that people still have in files: taken with a warning, or refused with what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dra_api.decode.fields import mapping, sequence
from dra_api.errors import DecodeError

Warn = Callable[[str, str, str, str], None]
"""Reports (field, problem, hint, code)."""


def move_name(obj: dict[str, Any], warn: Warn) -> dict[str, Any]:
    """Take a `name` beside `kind` for `metadata.name`. Raises DecodeError if both are there and differ."""
    name = obj.get("name")
    if not isinstance(name, str) or "kind" not in obj:
        return obj
    metadata = mapping(obj, "metadata")
    inner = metadata.get("name")
    if inner is not None and inner != name:
        problem = f"{name!r} differs from metadata.name {inner!r}"
        raise DecodeError("name", problem, "keep metadata.name only", code="name-outside-metadata")
    warn("name", "name belongs under metadata", "API servers refuse it here", "name-outside-metadata")
    return {key: value for key, value in obj.items() if key != "name"} | {"metadata": {**metadata, "name": name}}


def check_pod(obj: dict[str, Any]) -> None:
    """Refuse `source` in a Pod's resourceClaims. Raises DecodeError."""
    for i, claim in enumerate(sequence(mapping(obj, "spec"), "resourceClaims")):
        if isinstance(claim, dict) and claim.get("source") is not None:
            raise DecodeError(
                f"spec.resourceClaims[{i}].source",
                "is of Kubernetes 1.30 and older",
                "write resourceClaimName or resourceClaimTemplateName directly in the entry",
                code="pod-claim-source",
            )
