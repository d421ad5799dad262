"""What is checked of every object's metadata (meta/v1 ObjectMeta)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dra_api.names import label_problems, label_value_problems, qualified_name_problems, subdomain_problems
from dra_embedded.status import FORBIDDEN, INVALID, REQUIRED, TOO_LONG, Cause

if TYPE_CHECKING:
    from dra_embedded.registry import Served

Object = dict[str, Any]

MAX_ANNOTATIONS = 256 * 1024
"""Bytes of all annotations of an object, keys and values."""

_LABEL_NAMED = frozenset({"namespaces", "services"})
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")


def validate_metadata(served: Served, metadata: Object) -> list[Cause]:
    """Names, labels, annotations, finalizers and owner references of a new or changed object."""
    causes: list[Cause] = []
    name = metadata.get("name") or ""
    if not name:
        causes.append(Cause(REQUIRED, "metadata.name", "Required value: name or generateName is required"))
    else:
        check = label_problems if served.bucket in _LABEL_NAMED else subdomain_problems
        causes += _invalid("metadata.name", name, check(name))
    for key, value in (metadata.get("labels") or {}).items():
        causes += _invalid("metadata.labels", key, qualified_name_problems(key))
        causes += _invalid("metadata.labels", value, label_value_problems(value))
    causes += _annotations(metadata.get("annotations") or {})
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        causes += _invalid(f"metadata.finalizers[{index}]", finalizer, qualified_name_problems(finalizer))
    causes += _owners(metadata.get("ownerReferences") or ())
    return causes


def validate_metadata_update(new: Object, old: Object) -> list[Cause]:
    """What does not change once an object exists; and no finalizer comes to one that is being deleted."""
    causes = [
        Cause(INVALID, f"metadata.{field}", f'Invalid value: "{new.get(field, "")}": field is immutable')
        for field in ("name", "namespace", "uid", "creationTimestamp")
        if (new.get(field) or "") != (old.get(field) or "")
    ]
    if old.get("deletionTimestamp"):
        before = old.get("finalizers") or ()
        added = [each for each in new.get("finalizers") or () if each not in before]
        if added:
            message = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
            causes.append(Cause(FORBIDDEN, "metadata.finalizers", f"{message}{added}"))
    return causes


def _annotations(annotations: Object) -> list[Cause]:
    causes: list[Cause] = []
    size = 0
    for key, value in annotations.items():
        causes += _invalid("metadata.annotations", key, qualified_name_problems(key.lower()))
        size += len(key.encode()) + len(value.encode())
    if size > MAX_ANNOTATIONS:
        message = f"Too long: may not be more than {MAX_ANNOTATIONS} bytes"
        causes.append(Cause(TOO_LONG, "metadata.annotations", message))
    return causes


def _owners(owners: Iterable[Object]) -> list[Cause]:
    causes: list[Cause] = []
    controllers = 0
    for index, owner in enumerate(owners):
        controllers += owner.get("controller") is True
        for field in _OWNER_FIELDS:
            if not owner.get(field):
                path = f"metadata.ownerReferences[{index}].{field}"
                causes.append(Cause(INVALID, path, 'Invalid value: "": must not be empty'))
    if controllers > 1:
        message = "Invalid value: only one reference can have Controller set to true"
        causes.append(Cause(INVALID, "metadata.ownerReferences", message))
    return causes


def _invalid(field: str, value: str, problems: Iterable[str]) -> list[Cause]:
    return [Cause(INVALID, field, f'Invalid value: "{value}": {problem}') for problem in problems]
