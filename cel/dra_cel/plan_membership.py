"""`x in [constants]`, which Kubernetes turns into a look-up in a set."""

from __future__ import annotations

from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.plan import Plan
from dra_cel.semver import Semver
from dra_cel.uint import MAX_INT, MAX_UINT, MIN_INT, UInt
from dra_cel.values import type_name

_HASHED = frozenset({str, bool, int, UInt, float})


def membership_step(value: Plan, items: Plan) -> Step | None:
    """Return the step where the list is constant and has only bools, numbers and strings, else None.

    The look-up costs nothing. A version or bytes can't be looked up in a set: that is an error.
    """
    if not items.constant or any(type(item) not in _HASHED for item in items.value):
        return None
    known: set[tuple[type, Any]] = set()
    for item in items.value:
        known.update(_equal_numbers(item))
    value_step = value.step
    texts = frozenset([item for item in items.value if type(item) is str])

    def step(frame: Frame) -> bool:
        value = value_step(frame)
        kind = type(value)
        if kind is str:
            return value in texts
        if kind in _HASHED:
            return (kind, value) in known
        if kind is Semver or kind is bytes:
            raise EvaluationError(f"a value of type '{type_name(value)}' can't be looked up in a constant list")
        return False

    return step


def _equal_numbers(item: Any) -> list[tuple[type, Any]]:
    """Return the values of all number types that a constant stands for."""
    kind = type(item)
    result = [(kind, item)]
    if kind not in (int, UInt, float):
        return result
    if kind is not float:
        result.append((float, float(item)))
        whole = int(item)
    elif item.is_integer():
        whole = int(item)
    else:
        return result
    if kind is not int and MIN_INT <= whole <= MAX_INT:
        result.append((int, whole))
    if kind is not UInt and 0 <= whole <= MAX_UINT:
        result.append((UInt, UInt(whole)))
    return result
