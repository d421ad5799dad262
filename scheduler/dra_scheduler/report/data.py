"""An explanation as plain data: what JSON and YAML outputs contain. Field names are as in the API: camelCase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from dra_allocator.device import DeviceID
from dra_allocator.rejection import ClaimRejection, Explanation
from dra_scheduler.report.viewer import Viewer


def as_data(explanation: Explanation, viewer: Viewer) -> dict[str, Any]:
    """Return dicts, lists, strings, numbers and booleans; what is empty is left out.

    Claims that the viewer may not name are counted (`otherClaims`).
    """
    data: dict[str, Any] = _plain(explanation)
    for told, claim in zip(data.get("claims", ()), explanation.claims, strict=False):
        told.pop("inUseBy", None)
        told.update(_holders(claim, viewer))
    return data


def _holders(claim: ClaimRejection, viewer: Viewer) -> dict[str, Any]:
    named = []
    others = 0
    for uid, devices in claim.in_use_by.items():
        names, hidden = viewer.names([uid])
        others += hidden
        named += [{"claim": name, "devices": [str(device) for device in devices]} for name in names]
    return _without_empty({"inUseBy": sorted(named, key=lambda one: str(one["claim"])), "otherClaims": others})


def _plain(value: object) -> Any:
    if isinstance(value, DeviceID):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        named = {_camel(one.name): _plain(getattr(value, one.name)) for one in fields(value)}
        kind = {"fact": type(value).__name__} if type(value).__module__.endswith(".facts") else {}
        return _without_empty(kind | named)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _without_empty(named: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in named.items() if value is not False and value not in (None, "", [], {})}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
