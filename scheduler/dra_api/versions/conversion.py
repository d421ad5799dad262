"""`to_v1` and `from_v1`: whole objects, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dra_api.decode.fields import decoded, mapping
from dra_api.errors import DecodeError
from dra_api.references import RESOURCE_GROUP
from dra_api.versions import claims, slices
from dra_api.versions.lacking import lacking_field

SERVED = ("v1", "v1beta2", "v1beta1", "v1alpha3")
"""The versions that are understood, in the order in which they are looked for."""

_KINDS = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
_NESTED = ("v1", "v1beta2")
_BEFORE_1_31 = ("resourceClassName", "parametersRef", "allocationMode", "driverName", "namedResources")

_DEVICE = re.compile(r"^(spec\.devices\[\d+\])\.")

Obj = dict[str, Any]
_SpecConverter = Callable[[Obj, str], Obj]


def to_v1(obj: Obj, warnings: list[str] | None = None, *, kind: str = "", version: str = "") -> Obj:
    """Return an object of any served version in the v1 shape; the given one is not changed.

    Items of lists have neither kind nor apiVersion: then `kind` and `version` say what they are. With `warnings`
    (files) v1alpha2 is read as v1alpha3 where it has the fields of v1alpha3, and that is reported there.
    Raises DecodeError for unknown kinds and versions, wrong types and fields that another version has.
    """
    kind = kind or str(obj.get("kind") or "")
    return decoded(kind, obj, lambda _: _to_v1(obj, warnings, kind, version or _version(obj)))


def _to_v1(obj: Obj, warnings: list[str] | None, kind: str, version: str) -> Obj:
    if version == "v1alpha2" and warnings is not None:
        _check_before_1_31(obj, kind)
        warnings.append("v1alpha2 is read as v1alpha3; write apiVersion: resource.k8s.io/v1")
        version = "v1alpha3"
    _check_kind(kind, version)
    if version in _NESTED:
        converted = _with_spec(obj, kind, version, claims.checked_spec, slices.checked_spec)
    else:
        converted = _with_spec(obj, kind, version, claims.nested_spec, slices.nested_spec)
    try:
        _check_fields(converted, kind, version)
    except DecodeError as error:  # the path is that of the v1 shape: name the field where the author wrote it
        raise DecodeError(_as_written(error.field, version), error.problem, error.hint, code=error.code) from error
    return {**converted, "apiVersion": f"{RESOURCE_GROUP}/v1", "kind": kind}


def from_v1(obj: Obj, version: str) -> Obj:
    """Return a v1 object in the shape of another served version; the given one is not changed.

    Raises DecodeError naming a field that the version does not have, instead of losing it.
    """
    kind = str(obj.get("kind") or "")
    return decoded(kind, obj, lambda _: _from_v1(obj, kind, version))


def _from_v1(obj: Obj, kind: str, version: str) -> Obj:
    _check_kind(kind, version)
    _check_fields(obj, kind, version)
    if version not in _NESTED:
        obj = _with_spec(obj, kind, version, claims.flat_spec, slices.basic_spec)
    return {**obj, "apiVersion": f"{RESOURCE_GROUP}/{version}"}


def _with_spec(obj: Obj, kind: str, version: str, claim: _SpecConverter, slice_: _SpecConverter) -> Obj:
    if kind in ("DeviceClass", "DeviceTaintRule"):
        return obj
    spec = dict(mapping(obj, "spec"))
    try:
        if kind == "ResourceClaim":
            return {**obj, "spec": claim(spec, version)}
        if kind == "ResourceSlice":
            return {**obj, "spec": slice_(spec, version)}
        inner = dict(mapping(spec, "spec"))
        try:
            return {**obj, "spec": {**spec, "spec": claim(inner, version)}}
        except DecodeError as error:
            raise error.within("spec") from error
    except DecodeError as error:
        raise error.within("spec") from error


def _version(obj: Obj) -> str:
    api_version = obj.get("apiVersion")
    group, _, version = str(api_version or "").rpartition("/")
    if group != RESOURCE_GROUP:
        problem = f"{api_version!r} is not a version of {RESOURCE_GROUP}"
        raise DecodeError("apiVersion", problem, f"use {RESOURCE_GROUP}/{SERVED[0]}", code="unknown-version")
    return version


def _check_kind(kind: str, version: str) -> None:
    if version not in SERVED:
        known = ", ".join(SERVED)
        problem = f"version {version!r} of {RESOURCE_GROUP} is not known here"
        raise DecodeError("apiVersion", problem, f"use one of {known}", code="unknown-version")
    if kind not in _KINDS:
        raise DecodeError("kind", f"{kind!r} has no v1 form here", f"it must be one of {', '.join(_KINDS)}")
    if kind == "DeviceTaintRule" and version == "v1beta1":
        hint = "use v1, v1beta2 or v1alpha3"
        raise DecodeError("apiVersion", "there is no DeviceTaintRule in v1beta1", hint, code="unknown-version")


def _check_before_1_31(obj: Obj, kind: str) -> None:
    spec = mapping(obj, "spec")
    prefix = "spec."
    if kind == "ResourceClaimTemplate":
        spec, prefix = mapping(spec, "spec"), "spec.spec."
    for holder, path in ((spec, prefix), (obj, "")):
        field = next((name for name in _BEFORE_1_31 if holder.get(name) is not None), None)
        if field is not None:
            hint = "use devices.requests"
            raise DecodeError(f"{path}{field}", "is of Kubernetes 1.30 and older", hint, code="old-version")


def _as_written(path: str, version: str) -> str:
    if version in _NESTED:
        return path
    return _DEVICE.sub(r"\1.basic.", path.replace(".exactly.", "."))


def _check_fields(obj: Obj, kind: str, version: str) -> None:
    field = lacking_field(obj, kind, version)
    if field is not None:
        fitting = " or ".join(f"{RESOURCE_GROUP}/{other}" for other in field.fitting)
        hint = f"it fits apiVersion {fitting}"
        raise DecodeError(field.path, f"is not a field of {version}", hint, code="wrong-version")
