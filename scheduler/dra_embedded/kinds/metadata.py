"""The check of every object's metadata; the rules are `dra_api.validation`'s."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.validation import FieldError, metadata

if TYPE_CHECKING:
    from dra_embedded.registry import Served

_LABEL_NAMED = frozenset({"namespaces", "services"})
"""Buckets of the kinds whose names are DNS labels; the others' are subdomains, but for RBAC's."""
_RBAC = "rbac.authorization.k8s.io"


def check_metadata(served: Served, value: dict[str, Any]) -> Iterable[FieldError]:
    """Names, labels, annotations, finalizers and owner references of a new or changed object."""
    check = label_problems if served.bucket in _LABEL_NAMED else subdomain_problems
    if served.resource.group == _RBAC:
        check = _path_segment_problems
    return metadata(value, namespaced=served.resource.namespaced, check_name=check)


def _path_segment_problems(text: str) -> list[str]:
    """Check a name that only has to be one part of a path, such as `system:node`."""
    if text in (".", ".."):
        return ["must be neither '.' nor '..'"]
    return [f"must not contain '{each}'" for each in "/%" if each in text]
