"""Objects grown from the schemas: every field of every kind occurs, with values that are right, nearly right or odd."""

from __future__ import annotations

from typing import Any

from dra_api.decode.devices import UNKNOWN_DEVICE
from dra_api.schema import Fields, Map, Schema
from dra_api.schemas import SCHEMAS
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.generate_expressions import generate
from dra_bench.oracle.quantities import quantity_text, version_text

JSON = dict[str, Any]

_TEXTS = (
    "a", "r", "q/s0", "s0", "a.example.com", "a.example.com/x", "x", "gpu", "n", "node-1", "zone", "", "A", "a/b/c",
    "-", "*", "x" * 63, "x" * 64, "x" * 254, "\u00e4", "k8s.io/x", "0f3a5c0e-8b62-4c0a-9f5e-1a2b3c4d5e6f",
)  # fmt: skip
_WORDS: dict[str, tuple[str, ...]] = {
    "allocationMode": ("ExactCount", "All", "Some", ""),
    "operator": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "", "Near"),
    "effect": ("NoSchedule", "NoExecute", "None", "", "PreferNoSchedule"),
    "source": ("FromClass", "FromClaim", ""),
    "status": ("True", "False", "Unknown", ""),
    "key": ("metadata.name", "zone", "a.example.com/x", ""),
    "deviceClassName": ("gpu", "any", ""),
    "name": ("a", "b", "r", "q", "s0", "x.example.com", ""),
    "driver": ("a.example.com", "b.example.com", ""),
    "values": ("n", "z1", "7", "-1", "x"),
}
_INTEGERS = (0, 1, 1, 2, 3, 5, 16, 33, -1, 2**31, 2**63 - 1, -(2**63))
_TIMES = ("2026-01-01T00:00:00Z", "2026-12-31T23:59:59.999999+14:00", "0001-01-01T00:00:00Z")


def grown(draw: Draw, kind: str) -> JSON:
    """Return an object of a kind in the v1 shape; its types are right."""
    made: JSON = _value(draw, SCHEMAS[kind], kind, 0)
    made["apiVersion"], made["kind"] = "resource.k8s.io/v1", kind
    made.setdefault("metadata", {})["name"] = draw.one(_WORDS["name"][:-1])
    made.setdefault("spec", {})
    return made


def _value(draw: Draw, schema: Schema, key: str, depth: int) -> Any:
    if isinstance(schema, Fields):
        chance = max(0.25, 0.75 - 0.07 * depth)
        return {
            name: _value(draw, inner, name, depth + 1)
            for name, inner in schema.fields.items()
            if name != UNKNOWN_DEVICE and draw.chance(chance)
        }
    if isinstance(schema, list):
        return [_value(draw, schema[0], key, depth + 1) for _ in range(draw.weighted({0: 1, 1: 5, 2: 3, 4: 1}))]
    if isinstance(schema, Map):
        count = draw.weighted({0: 1, 1: 4, 2: 2, 3: 1})
        return {draw.one(_TEXTS[:11]): _value(draw, schema.values, key, depth + 1) for _ in range(count)}
    return _scalar(draw, schema, key)


def _scalar(draw: Draw, schema: str, key: str) -> Any:
    if schema == "integer":
        return draw.one(_INTEGERS)
    if schema == "boolean":
        return draw.chance(0.5)
    if schema == "quantity":
        return quantity_text(draw) if draw.chance(0.7) else draw.one((0, 1, 7, 2.5, -1))
    if schema == "time":
        return draw.one(_TIMES)
    if schema == "any":
        return draw.one(({}, {"a": [1, None]}, [], "x"))
    if key == "expression":
        return str(generate(draw.number(0, 10**6)))
    if key in ("version", "versions"):
        return version_text(draw)
    return draw.one(_WORDS[key] if key in _WORDS and draw.chance(0.8) else _TEXTS)
