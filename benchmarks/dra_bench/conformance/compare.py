"""Comparing allocation results by the rules of the case files (`resultKinds`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from dra_bench.conformance.case import CaseError
from dra_cel.quantity import Quantity, QuantityError

JSON = dict[str, Any]
KINDS = ("exact", "matcher")


def difference_of_results(expected: Sequence[JSON], kinds: Sequence[str] | None, actual: Sequence[JSON]) -> list[str]:
    """Say how results differ. The order of claims does not matter; what else does not is up to each kind.

    `matcher`: the order of devices and inside the node selector is irrelevant, config must be absent. `exact`: deep
    equality with order. Without kinds everything is exact. Raises CaseError for an expectation that can't be read.
    """
    if len(expected) != len(actual):
        return [f"expected {len(expected)} results, got {len(actual)}"]
    wanted = list(zip(expected, kinds or ["exact"] * len(expected), strict=True))
    if unknown := {kind for _, kind in wanted} - set(KINDS):
        raise CaseError(f"expected.resultKinds must have {' or '.join(KINDS)}, not {', '.join(map(repr, unknown))}")
    fits = [[_equal(one, kind, result) for result in actual] for one, kind in wanted]
    if _assignable(fits):
        return []
    return [
        f"claim {position}: expected {_text(_comparable(one, kind))}, got {_text(_comparable(result, kind))}"
        for position, ((one, kind), result) in enumerate(zip(wanted, actual, strict=True))
        if not fits[position][position]
    ] or ["the results fit no order of the claims"]


def _assignable(fits: Sequence[Sequence[bool]]) -> bool:
    """Whether each expectation can have a result of its own (a perfect matching by augmenting paths)."""
    taken: dict[int, int] = {}

    def assign(row: int, seen: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in seen:
                seen.add(column)
                if column not in taken or assign(taken[column], seen):
                    taken[column] = row
                    return True
        return False

    return all(assign(row, set()) for row in range(len(fits)))


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
        amounts = {name: _amount(name, given) for name, given in (entry.get("consumedCapacity") or {}).items()}
        entries.append({**entry, "consumedCapacity": amounts})
    return {**result, "devices": {**devices, "results": entries}}


def _amount(name: str, given: object) -> str:
    try:
        return str(Quantity.parse(str(given)))
    except QuantityError as error:
        raise CaseError(f"expected.results: consumedCapacity[{name}]: {given!r} is not a quantity") from error


def _sorted(value: Any) -> Any:
    """The same with every list in a canonical order."""
    if isinstance(value, dict):
        return {key: _sorted(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(entry) for entry in value), key=_text)
    return value


def _without_empty(value: Any) -> Any:
    """Absent and empty are the same to Kubernetes' encoder; `false` is not (adminAccess is a pointer).

    What is a driver's own (`parameters`) stays as it is.
    """
    if isinstance(value, dict):
        kept = {key: entry if key == "parameters" else _without_empty(entry) for key, entry in value.items()}
        if isinstance(kept.get("tolerations"), list):  # an API server fills the operator in
            kept["tolerations"] = [{"operator": "Equal", **one} for one in kept["tolerations"]]
        return {key: entry for key, entry in kept.items() if entry not in (None, {}, [], "")}
    if isinstance(value, list):
        return [_without_empty(entry) for entry in value]
    return value


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
