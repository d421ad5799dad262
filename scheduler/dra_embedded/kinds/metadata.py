"""The check of every object's metadata; the rules are `dra_api.validation`'s."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.validation import FieldError, metadata

if TYPE_CHECKING:
    from dra_embedded.registry import Served

_LABEL_NAMED = frozenset({"namespaces", "services"})
"""Buckets of the kinds whose names are DNS labels; the others' are subdomains."""


def check_metadata(served: Served, value: dict[str, Any]) -> Iterable[FieldError]:
    """Names, labels, annotations, finalizers and owner references of a new or changed object."""
    check = label_problems if served.bucket in _LABEL_NAMED else subdomain_problems
    return metadata(value, namespaced=served.resource.namespaced, check_name=check)
