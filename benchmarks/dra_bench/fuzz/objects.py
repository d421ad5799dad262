"""Slices, claims and their kin: decoding, validation and conversion of whatever an object holds.

Only DecodeErrors and lists of FieldErrors come out; what has a wrong type is never decoded, what is valid always is;
conversion to another version and back changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import orjson

from dra_allocator.claim import ResourceClaim
from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.schema import check_types
from dra_api.schemas import SCHEMAS
from dra_api.validation import Rules, validate_object, validate_status_update, validate_update, with_defaults
from dra_api.versions import SERVED, from_v1, to_v1
from dra_bench.fuzz.damage import JSON, damaged, smaller
from dra_bench.fuzz.grow import grown
from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.generate_clusters import generate

OBJECT_MS = 500.0
"""CPU time for one object: up to 32 expressions may be in it, each compiled."""

_DECODERS: dict[str, Callable[[JSON], object]] = {
    "ResourceClaim": decode.resource_claim,
    "ResourceSlice": decode.resource_slice,
    "DeviceClass": decode.device_class,
    "DeviceTaintRule": decode.taint_rule,
}
_PARTS = {"ResourceClaim": "claimsToAllocate", "ResourceSlice": "slices", "DeviceClass": "classes"}
_READ = re.compile(r"spec(?!.*nodeSelector[.\[])(?!\.suitableNodes|\.partitionTypeAttribute)(?!.*\.timeAdded)")
"""Fields that decoding refuses if their type is wrong.

What is wrong within a node selector takes out its slice or device instead; `suitableNodes` is of the past, and
`partitionTypeAttribute` and `timeAdded` tell nothing to an allocator.
"""
_OLD = "spec.deviceSelector.selectors"
"""No field of v1 any more, so its rules are gone; decoding refuses what it does not understand there."""
_RULES = Rules(partitionable_devices_type=True)
_NOW = "2026-01-01T00:00:00Z"


def _maker(kinds: tuple[str, ...]) -> Callable[[int], JSON]:
    def make(seed: int) -> JSON:
        draw = Draw(f"object {kinds[0]} {seed}")
        kind = draw.one(kinds)
        found = generate(seed).get(_PARTS.get(kind, ""), []) if draw.chance(0.4) else []
        obj = draw.one(found) if found else grown(draw, kind)
        return damaged(draw, obj) if draw.chance(0.8) else obj

    return make


def check(obj: JSON, watch: Watch) -> str:
    """Decode, validate and convert an object in the v1 shape."""
    kind = obj["kind"]
    with watch.at_most(OBJECT_MS, kind):
        wrong = list(check_types(obj, SCHEMAS[kind], unknown_fields=False))
        decoded = _decoded(obj)
        refused = decoded if isinstance(decoded, DecodeError) else None
        read = [error for error in wrong if _READ.match(error.field)]
        if read and kind in _DECODERS and not refused and not _marked(decoded):
            raise PropertyError(f"decoded although {read[0]}")
        errors = [] if wrong else validate_object(with_defaults(obj, _NOW), _RULES)
        _judge(obj, kind)
        if not wrong and not errors and refused is not None and not refused.field.startswith(_OLD):
            raise PropertyError(f"valid, but not decoded: {refused}")
        if not any(check_types(obj, SCHEMAS[kind])):
            _convert(obj)
    return "wrong type" if wrong else "invalid" if errors else "valid"


def _decoded(obj: JSON) -> object:
    """Return the engine's form, or the error that refuses it."""
    try:
        return _DECODERS.get(obj["kind"], id)(obj)
    except DecodeError as error:
        if not (str(error) and error.problem):
            raise PropertyError("an error without text") from error
        return error


def _marked(value: object) -> bool:
    """Whether something in it is marked as not understood: such a part is refused by name and not read further."""
    if is_dataclass(value):
        entries = [(field.name, getattr(value, field.name)) for field in fields(value)]
        if isinstance(value, ResourceClaim) and not value.requests:
            return True  # what it does not ask for is not configured either
        return any((name == "unsupported" and inner is not None) or _marked(inner) for name, inner in entries)
    return isinstance(value, tuple) and any(map(_marked, value))


def _judge(obj: JSON, kind: str) -> None:
    """Every rule answers, whatever the object; each error has a text."""
    for error in (*validate_object(obj, _RULES), *validate_update(obj, obj, _RULES)):
        if not (str(error) and error.field is not None):
            raise PropertyError("an error without text")
    if kind in ("ResourceClaim", "DeviceTaintRule"):
        validate_status_update(obj, {"kind": kind, "metadata": {}, "spec": {}})


def _convert(obj: JSON) -> None:
    try:
        stored = to_v1(obj)
    except DecodeError:
        return
    for version in SERVED:
        try:
            there = from_v1(stored, version)
            back = to_v1(there)
        except DecodeError:
            continue
        if _meant(back) != _meant(stored):
            raise PropertyError(f"changed by {version}: {show(there)} and back {show(back)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_shown(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return hex(value) if isinstance(value, int) and abs(value) > 2**64 else repr(value)


def _meant(value: Any) -> Any:
    """What an object says: null, false, empty and a count of 0 are the same as left out, as in the API."""
    if isinstance(value, dict):
        pairs = ((key, _meant(inner)) for key, inner in value.items())
        return {key: inner for key, inner in pairs if inner or (inner == 0 and inner is not False and key != "count")}
    return [_meant(inner) for inner in value] if isinstance(value, list) else value


def show(obj: Any) -> str:
    """Return an object as JSON, or nearly where JSON cannot say it."""
    try:
        return orjson.dumps(obj).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates
        return _shown(obj)


SLICES = Study(_maker(("ResourceSlice", "ResourceSlice", "DeviceTaintRule")), check, smaller, show)
_CLAIM_KINDS = ("ResourceClaim", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass")
CLAIMS = Study(_maker(_CLAIM_KINDS), check, smaller, show)
