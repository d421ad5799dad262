"""Objects and lists as tables (meta.k8s.io/v1 Table), which is how kubectl asks for them.

A table has every column; those for `-o wide` are marked by their priority. What a row stands for comes with it: its
metadata, or the whole object, or nothing, as `includeObject` says.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from dra_embedded.http.columns import cluster, devices, pods
from dra_embedded.http.columns.column import Column, age, name

Object = dict[str, Any]

DEFAULT = (Column("Name", name), Column("Age", age))
COLUMNS = {
    "Pod": pods.PODS,
    "Node": cluster.NODES,
    "Namespace": cluster.NAMESPACES,
    "Event": cluster.EVENTS,
    "Lease": cluster.LEASES,
    "PriorityClass": cluster.PRIORITY_CLASSES,
    "ResourceClaim": devices.CLAIMS,
    "ResourceSlice": devices.SLICES,
    "DeviceTaintRule": devices.TAINT_RULES,
    "PodGroup": devices.POD_GROUPS,
}
"""By kind; the others have a name and an age."""

_NOT_TABULAR = ("Status", "Table", "APIResourceList", "APIGroup", "APIGroupList", "APIVersions")


def is_wanted(accept: str) -> bool:
    """Whether the first thing that an Accept header asks for is a table."""
    first = accept.partition(",")[0].replace(" ", "").split(";")
    return "as=Table" in first and "g=meta.k8s.io" in first


def as_table(body: bytes, include: str, now: datetime) -> bytes:
    """The table of an answer's body, an object or a list; what is neither stays as it is."""
    obj: Object = orjson.loads(body)
    kind = obj.get("kind", "")
    if kind in _NOT_TABULAR:
        return body
    if "items" in obj and kind.endswith("List"):
        head = {"kind": kind.removesuffix("List"), "apiVersion": obj["apiVersion"]}
        rows = [_row(head, item, include, now) for item in obj["items"]]
        return orjson.dumps(_table(head["kind"], obj["metadata"], rows))
    return orjson.dumps(_table(kind, _version(obj), [_row(obj, obj, include, now)]))


def event_as_table(line: bytes, include: str, now: datetime) -> bytes:
    """A watch event with a table of one row in it; errors stay as they are, bookmarks have no row."""
    event = orjson.loads(line)
    obj: Object = event["object"]
    if event["type"] == "ERROR":
        return line
    rows = [] if event["type"] == "BOOKMARK" else [_row(obj, obj, include, now)]
    return orjson.dumps({"type": event["type"], "object": _table(obj["kind"], _version(obj), rows)}) + b"\n"


def _table(kind: str, metadata: Object, rows: list[Object]) -> Object:
    columns = COLUMNS.get(kind, DEFAULT)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in columns],
        "rows": rows,
    }


def _row(head: Object, item: Object, include: str, now: datetime) -> Object:
    """The row of an object whose kind and apiVersion are in `head`."""
    columns = COLUMNS.get(head["kind"], DEFAULT)
    return {"cells": [column.cell(item, now) for column in columns], "object": _included(head, item, include)}


def _included(head: Object, item: Object, include: str) -> Object | None:
    if include == "None":
        return None
    if include == "Object":
        return {**item, "kind": head["kind"], "apiVersion": head["apiVersion"]}
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": item["metadata"]}


def _version(obj: Object) -> Object:
    return {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
