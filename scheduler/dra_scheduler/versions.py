"""Comparing resourceVersions: two versions of one object, which is newer.

Since Kubernetes 1.35 the API promises that versions of one kind are decimal numbers to be compared as such (KEP-5504);
earlier servers behave so, and kube-scheduler relies on it for ResourceClaims.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def version_of(raw: Mapping[str, Any]) -> int:
    """Return the object's resourceVersion as a number; 0 for one that is no number, which is newer than nothing."""
    return version_number(raw["metadata"].get("resourceVersion") or "")


def version_number(text: str) -> int:
    """Return a resourceVersion as a number; 0 for one that is no number."""
    return int(text) if text.isascii() and text.isdigit() else 0


def is_stale(candidate: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether `candidate` is older than what is known of the same object (same uid)."""
    return version_of(candidate) < version_of(known)


def is_news(candidate: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether `candidate` is newer than what is known of the same object (same uid), or cannot be told to be older."""
    return not version_of(candidate) or version_of(candidate) > version_of(known)
