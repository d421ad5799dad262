"""Conditions: those of objects, those that a binding waits for, and operations that nodes skip."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dra_api.names import byte_length
from dra_api.validation.errors import invalid, not_supported, required, too_long, too_many
from dra_api.validation.formats import label_key
from dra_api.validation.lists import Errors, Raw, duplicates, items

_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_STATUSES = ("False", "True", "Unknown")
_SKIPPABLE = ("*", "NodePrepareResources", "NodeUnprepareResources")


def condition_names(path: str, value: Raw) -> Errors:
    """Check binding conditions and binding failure conditions (KEP-5007), of a device or of a result."""
    conditions: list[str] = value.get("bindingConditions") or []
    failures: list[str] = value.get("bindingFailureConditions") or []
    first, second = f"{path}.bindingConditions", f"{path}.bindingFailureConditions"
    yield from items(first, conditions, 4, label_key)
    yield from items(second, failures, 4, label_key)
    yield from duplicates(first, conditions)
    yield from duplicates(second, failures)
    for i, failure in enumerate(failures):
        if failure in conditions:
            yield invalid(f"{second}[{i}]", failure, "bindingFailureConditions must not overlap with bindingConditions")
    if failures and not conditions:
        yield invalid(first, conditions, "bindingConditions are required to use bindingFailureConditions")
    if conditions and not failures:
        yield invalid(second, failures, "bindingFailureConditions are required to use bindingConditions")


def skipped_operations(path: str, operations: Sequence[str]) -> Errors:
    """Check `skipNodeOperations` (Kubernetes 1.37): a set; prepare is skipped only together with unprepare."""
    for i, operation in enumerate(operations):
        if operation not in _SKIPPABLE:
            yield not_supported(f"{path}[{i}]", operation, _SKIPPABLE)
    yield from duplicates(path, operations)
    if "NodePrepareResources" in operations and not {"NodeUnprepareResources", "*"} & set(operations):
        yield invalid(
            path,
            list(operations),
            "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped",
        )


def conditions(path: str, values: Sequence[Raw], limit: int) -> Errors:
    """Check conditions (meta/v1 Condition)."""
    if len(values) > limit:
        yield too_many(path, len(values), limit)
    yield from duplicates(path, values, lambda value: value.get("type") or "")
    for i, value in enumerate(values):
        yield from _condition(f"{path}[{i}]", value)


def _condition(path: str, value: Raw) -> Errors:
    if kind := value.get("type"):
        yield from label_key(f"{path}.type", kind)
    else:
        yield required(f"{path}.type", "is required")
    status = value.get("status") or ""
    if not status:
        yield required(f"{path}.status")
    elif status not in _STATUSES:
        yield not_supported(f"{path}.status", status, _STATUSES)
    if (value.get("observedGeneration") or 0) < 0:
        yield invalid(
            f"{path}.observedGeneration", value["observedGeneration"], "must be greater than or equal to zero"
        )
    if not value.get("lastTransitionTime"):
        yield required(f"{path}.lastTransitionTime")
    reason = value.get("reason") or ""
    if not reason:
        yield required(f"{path}.reason")
    elif not _REASON.fullmatch(reason):
        yield invalid(f"{path}.reason", reason, "must be letters, digits, '_', ',' or ':', starting with a letter")
    if byte_length(reason) > 1024:
        yield too_long(f"{path}.reason", 1024)
    if byte_length(value.get("message") or "") > 32 * 1024:
        yield too_long(f"{path}.message", 32 * 1024)
