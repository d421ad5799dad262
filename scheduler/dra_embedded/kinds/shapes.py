"""The shapes of request bodies: `dra_api.schemas`' of resource.k8s.io, the published ones of other kinds.

Fields that are not listed in an open shape are kept as they come; so is everything in kinds that nobody describes.
"""

from __future__ import annotations

from functools import cache

from dra_api.schema import Fields, Schema
from dra_api.schemas import SCHEMAS
from dra_embedded.kinds.published import PublishedShapes

_OPEN = Fields(open_=True)
_STRINGS: Schema = ["string"]


def _part(base: Fields, name: str) -> Fields:
    part = base.fields.get(name, _OPEN)
    return part if isinstance(part, Fields) else _OPEN


METADATA = _part(SCHEMAS["Pod"], "metadata")

_REFERENCE = Fields(
    dict.fromkeys(("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"), "string"),
    open_=True,
)
_GENERIC = Fields({"metadata": METADATA, "spec": "any", "status": "any"}, open_=True)
_PUBLISHED = PublishedShapes(METADATA)

DELETE_OPTIONS = Fields(
    {
        "kind": "string",
        "apiVersion": "string",
        "gracePeriodSeconds": "integer",
        "propagationPolicy": "string",
        "orphanDependents": "boolean",
        "preconditions": Fields({"uid": "string", "resourceVersion": "string"}, open_=True),
        "dryRun": _STRINGS,
    },
    open_=True,
)
BINDING = Fields(
    {"kind": "string", "apiVersion": "string", "metadata": METADATA, "target": _REFERENCE},
    open_=True,
)


@cache
def shape_of(kind: str) -> Fields:
    """The shape of a kind in its storage version: ours where it is complete, or the published one."""
    shape = SCHEMAS.get(kind)
    if shape is None or shape.open_:
        shape = _PUBLISHED.of(kind) or shape
    return shape or _GENERIC
