"""Optional values. `or` and `orValue` are the evaluator's, because they skip their argument."""

from __future__ import annotations

from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.functions.operators import special
from dra_cel.functions.table import member, overload
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver
from dra_cel.times import Duration
from dra_cel.values import MISSING, NONE, Optional, type_name


def _is_zero(value: Any) -> bool:
    kind = type(value)
    if kind is Quantity or kind is Semver:
        return False
    if kind is Duration:
        return bool(value.nanos == 0)
    if kind is Optional:
        return False
    return (
        value is None
        or (hasattr(value, "__len__") and len(value) == 0)
        or (isinstance(value, int | float) and not value)
    )


def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional(value)


def _value(optional: Optional) -> Any:
    if optional.value is MISSING:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _first(items: tuple[Any, ...]) -> Optional:
    return Optional(items[0]) if items else NONE


def _last(items: tuple[Any, ...]) -> Optional:
    return Optional(items[-1]) if items else NONE


def _unwrap(items: tuple[Any, ...]) -> tuple[Any, ...]:
    for item in items:
        if type(item) is not Optional:
            raise EvaluationError(f"value of type '{type_name(item)}' is not optional")
    return tuple([item.value for item in items if item.present])


OVERLOADS = [
    overload("optional_of", "optional.of(V) -> optional(V)", Optional),
    overload("optional_ofNonZeroValue", "optional.ofNonZeroValue(V) -> optional(V)", _of_non_zero),
    overload("optional_none", "optional.none() -> optional(V)", lambda: NONE),
    member("optional_value", "value(optional(V)) -> V", _value),
    member("optional_hasValue", "hasValue(optional(V)) -> bool", lambda optional: optional.value is not MISSING),
    member("optional_or_optional", "or(optional(V), optional(V)) -> optional(V)", special),
    member("optional_orValue_value", "orValue(optional(V), V) -> V", special),
    member("list_first", "first(list(V)) -> optional(V)", _first),
    member("list_last", "last(list(V)) -> optional(V)", _last),
    overload("optional_unwrap", "optional.unwrap(list(optional(V))) -> list(V)", _unwrap),
    member("optional_unwrapOpt", "unwrapOpt(list(optional(V))) -> list(V)", _unwrap),
]
