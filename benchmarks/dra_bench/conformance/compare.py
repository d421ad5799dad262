"""Comparing allocation results by the rules of the case files (`resultKinds`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import orjson

from dra_cel.quantity import Quantity

JSON = dict[str, Any]


def difference_of_results(expected: Sequence[JSON], kinds: Sequence[str] | None, actual: Sequence[JSON]) -> list[str]:
    """Say how results differ. The order of claims does not matter; what else does not is up to each kind.

    `matcher`: the order of devices and inside the node selector is irrelevant, config must be absent. `exact`: deep
    equality with order. Without kinds everything is exact.
    """
    if len(expected) != len(actual):
        return [f"expected {len(expected)} results, got {len(actual)}"]
    wanted = list(zip(expected, kinds or ["exact"] * len(expected), strict=True))
    for order in itertools.permutations(actual) if len(actual) <= 5 else [tuple(actual)]:
        if all(_equal(e, kind, a) for (e, kind), a in zip(wanted, order, strict=True)):
            return []
    return [
        f"claim {position}: expected {_text(_comparable(e, kind))}, got {_text(_comparable(a, kind))}"
        for position, ((e, kind), a) in enumerate(zip(wanted, actual, strict=True))
        if not _equal(e, kind, a)
    ] or ["the results fit no order of the claims"]


def _equal(expected: JSON, kind: str, actual: JSON) -> bool:
    if kind == "matcher" and actual.get("devices", {}).get("config"):
        return False
    return bool(_comparable(expected, kind) == _comparable(actual, kind))


def _comparable(result: JSON, kind: str) -> Any:
    value = _without_empty(_canonical_amounts(result))
    if kind != "matcher" or not isinstance(value, dict):
        return value
    return _sorted(value)


def _canonical_amounts(result: JSON) -> JSON:
    """The result with `consumedCapacity` in canonical spelling: 1024Mi is 1Gi."""
    devices = dict(result.get("devices") or {})
    entries = []
    for entry in devices.get("results") or []:
        amounts = {name: str(Quantity.parse(text)) for name, text in (entry.get("consumedCapacity") or {}).items()}
        entries.append({**entry, "consumedCapacity": amounts})
    return {**result, "devices": {**devices, "results": entries}}


def _sorted(value: Any) -> Any:
    """The same with every list in a canonical order."""
    if isinstance(value, dict):
        return {key: _sorted(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(entry) for entry in value), key=_text)
    return value


def _without_empty(value: Any) -> Any:
    """Absent and empty are the same to Kubernetes' encoder; `false` is not (adminAccess is a pointer)."""
    if isinstance(value, dict):
        kept = {key: _without_empty(entry) for key, entry in value.items()}
        return {key: entry for key, entry in kept.items() if entry not in (None, {}, [], "")}
    if isinstance(value, list):
        return [_without_empty(entry) for entry in value]
    return value


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
