"""Requests, subrequests, constraints and configuration of a claim."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

from dra_allocator.claim import (
    Constraint,
    DerivedAttribute,
    DeviceRequest,
    OpaqueConfig,
    Toleration,
)
from dra_api.decode.fields import (
    Raw,
    Unsupported,
    boolean,
    integer,
    items,
    mapping,
    optional_mapping,
    optional_text,
    text,
    texts,
)
from dra_api.decode.values import check_quantity
from dra_api.errors import DecodeError
from dra_cel.quantity import Quantity

_EFFECTS = (None, "None", "NoSchedule", "NoExecute")


def _others(obj: Raw, *known: str) -> str:
    """Say what an object of unknown kind has instead of what we know."""
    return "it has " + (", ".join(sorted(key for key in obj if key not in known)) or "no fields that are known here")


def request(obj: Raw) -> DeviceRequest:
    """Return a request. One of an unknown kind is unsupported, with the reason. Raises DecodeError for wrong types."""
    name = intern(text(obj, "name"))
    exactly = optional_mapping(obj, "exactly")
    alternatives = items(obj, "firstAvailable", _subrequest)
    if exactly is not None and alternatives:
        return DeviceRequest(name, unsupported="has both exactly and firstAvailable")
    if alternatives:
        unknown = next((a for a in alternatives if a.unsupported is not None), None)
        reason = None if unknown is None else f"subrequest {unknown.name!r}: {unknown.unsupported}"
        return DeviceRequest(name, first_available=alternatives, unsupported=reason)
    if exactly is None:
        reason = f"neither exactly nor firstAvailable (unsupported request type?): {_others(obj, 'name')}"
        return DeviceRequest(name, unsupported=reason)
    try:
        admin_access = None if exactly.get("adminAccess") is None else boolean(exactly, "adminAccess")
        return _exact(exactly, name, admin_access)
    except DecodeError as error:
        raise error.within("exactly") from error


def _subrequest(obj: Raw) -> DeviceRequest:
    return _exact(obj, intern(text(obj, "name")), admin_access=None)


def _exact(obj: Raw, name: str, admin_access: bool | None) -> DeviceRequest:
    try:
        mode = optional_text(obj, "allocationMode") or "ExactCount"
        if mode not in ("ExactCount", "All"):
            raise Unsupported(f"unsupported count mode {mode}")
        count = integer(obj, "count") or 1
        if mode == "ExactCount" and count < 0:
            raise Unsupported(f"count {count} must be greater than zero")
        device_class = intern(text(obj, "deviceClassName"))
        if not device_class:
            raise Unsupported("missing device class name (unsupported request type?)")
        return DeviceRequest(
            name=name,
            device_class=device_class,
            selectors=selectors(obj),
            mode="All" if mode == "All" else "ExactCount",
            count=count,
            admin_access=admin_access,
            tolerations=_known_tolerations(obj),
            capacity=_capacity(obj),
            derived_attributes=items(obj, "derivedAttributes", _derived),
        )
    except Unsupported as unsupported:
        return DeviceRequest(name, unsupported=str(unsupported))


def selectors(obj: Raw) -> tuple[str, ...]:
    """Return the CEL texts of `selectors`. Raises Unsupported for a selector of another kind."""
    return items(obj, "selectors", _selector)


def _selector(obj: Raw) -> str:
    cel = optional_mapping(obj, "cel")
    if cel is None:
        raise Unsupported(f"CEL expression empty (unsupported selector type?): {_others(obj)}")
    try:
        return intern(text(cel, "expression"))
    except DecodeError as error:
        raise error.within("cel") from error


def toleration(obj: Raw) -> Toleration:
    """Return a toleration as it is, unknown operators and effects included. Raises DecodeError for wrong types."""
    # The types of operator and effect are what Kubernetes defines; newer values pass through to results unchanged.
    operator: Any = optional_text(obj, "operator") or "Equal"
    effect: Any = optional_text(obj, "effect") or None
    seconds = None if obj.get("tolerationSeconds") is None else integer(obj, "tolerationSeconds")
    return Toleration(text(obj, "key"), operator, text(obj, "value"), effect, seconds)


def _known_tolerations(obj: Raw) -> tuple[Toleration, ...]:
    result = items(obj, "tolerations", toleration)
    for i, entry in enumerate(result):
        if entry.operator not in ("Exists", "Equal"):
            raise Unsupported(f"tolerations[{i}]: operator {entry.operator!r} is not known here")
        if entry.effect not in _EFFECTS:
            raise Unsupported(f"tolerations[{i}]: effect {entry.effect!r} is not known here")
    return result


def _capacity(obj: Raw) -> Mapping[str, Quantity]:
    outer = optional_mapping(obj, "capacity")
    if outer is None:
        return {}
    try:
        return {
            intern(name): check_quantity(f"requests[{name}]", value)
            for name, value in mapping(outer, "requests").items()
        }
    except DecodeError as error:
        raise error.within("capacity") from error


def _derived(obj: Raw) -> DerivedAttribute:
    return DerivedAttribute(text(obj, "name"), text(obj, "expression"))


def constraint(obj: Raw) -> Constraint:
    """Return a constraint; one of an unknown kind is unsupported, with the reason. Raises DecodeError."""
    requests = texts(obj, "requests")
    match = optional_text(obj, "matchAttribute")
    distinct = optional_text(obj, "distinctAttribute")
    if match is not None and distinct is not None:
        return Constraint(requests, "match", match, "has both matchAttribute and distinctAttribute")
    if match is not None:
        return Constraint(requests, "match", intern(match))
    if distinct is not None:
        return Constraint(requests, "distinct", intern(distinct))
    reason = f"empty constraint (unsupported constraint type?): {_others(obj, 'requests')}"
    return Constraint(requests, "match", "", reason)


def config(obj: Raw) -> OpaqueConfig:
    """Return a configuration entry. Raises DecodeError, and Unsupported for one that is not opaque."""
    opaque = optional_mapping(obj, "opaque")
    if opaque is None:
        raise Unsupported(f"not opaque (unsupported configuration type?): {_others(obj, 'requests', 'source')}")
    try:
        return OpaqueConfig(text(opaque, "driver"), opaque.get("parameters"), texts(obj, "requests"))
    except DecodeError as error:
        raise error.within("opaque") from error
