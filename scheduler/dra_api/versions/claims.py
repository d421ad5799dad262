"""Requests of a claim between the shapes: under `exactly` (v1, v1beta2) or flat (v1beta1, v1alpha3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dra_api.decode.fields import mapping, sequence
from dra_api.errors import DecodeError

MAIN_FIELDS = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
)
_UNSET: tuple[object, ...] = (None, "", 0)


def is_set(name: str, value: object, version: str) -> bool:
    """Tell whether a flat field counts as set: false is a value of adminAccess, but not in 1.31's v1alpha3."""
    if value is False:
        return name == "adminAccess" and version != "v1alpha3"
    return value not in _UNSET


def nested_spec(spec: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a claim's spec in the v1 shape. Raises DecodeError for what the version does not have."""
    return _with_requests(spec, lambda request: _nested(request, version))


def flat_spec(spec: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a claim's spec in v1 with its requests flattened."""
    return _with_requests(spec, lambda request: _flat(request, version))


def checked_spec(spec: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a claim's spec of v1 or v1beta2 as it is. Raises DecodeError if requests have the flat shape."""
    return _with_requests(spec, lambda request: _checked(request, version))


def _with_requests(spec: dict[str, Any], convert: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    devices = mapping(spec, "devices")
    try:
        requests = sequence(devices, "requests")
    except DecodeError as error:
        raise error.within("devices") from error
    if not requests:
        return spec
    converted = []
    for i, request in enumerate(requests):
        try:
            converted.append(convert(request) if isinstance(request, dict) else request)
        except DecodeError as error:
            raise error.within(f"devices.requests[{i}]") from error
    return {**spec, "devices": {**devices, "requests": converted}}


def _nested(request: dict[str, Any], version: str) -> dict[str, Any]:
    if request.get("exactly") is not None:
        raise DecodeError(
            "exactly",
            f"is not a field of {version}",
            "it fits apiVersion resource.k8s.io/v1 and v1beta2; here its fields stand directly in the request",
            code="wrong-version",
        )
    main = {name: request[name] for name in MAIN_FIELDS if is_set(name, request.get(name), version)}
    if main and request.get("firstAvailable"):
        raise DecodeError(
            next(iter(main)),
            "must not be set beside firstAvailable",
            "move it into the subrequests or drop firstAvailable",
            code="api-invalid",
        )
    rest = {name: value for name, value in request.items() if name not in MAIN_FIELDS}
    return {**rest, "exactly": main} if main else rest


def _flat(request: dict[str, Any], version: str) -> dict[str, Any]:
    rest = {name: value for name, value in request.items() if name != "exactly"}
    exactly = mapping(request, "exactly")
    main = {name: value for name, value in exactly.items() if is_set(name, value, version)}
    if request.get("exactly") is not None and not main:
        raise DecodeError("exactly", f"is empty, which {version} cannot say", "set at least deviceClassName")
    # These versions always write deviceClassName, also where the request has alternatives instead.
    return {**rest, **main} if main else {**rest, "deviceClassName": ""}


def _checked(request: dict[str, Any], version: str) -> dict[str, Any]:
    name = next((name for name in MAIN_FIELDS if is_set(name, request.get(name), version)), None)
    if name is not None:
        raise DecodeError(
            name,
            f"is not a field of a request in {version}",
            "here it belongs under exactly; in a request it fits apiVersion resource.k8s.io/v1beta1 and v1alpha3",
            code="wrong-version",
        )
    return request
