"""Equality, membership, indexing, size, and what the evaluator handles on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_cel.equality import STRICT, equal, surely_equal, uniform
from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import COMPARE, IN_LIST, Charge, Estimate, Operand
from dra_cel.functions.table import member, overload
from dra_cel.ranges import NOTHING, STRING_FACTOR, UNIT, Range
from dra_cel.slices import paced
from dra_cel.types import FORMAT, QUANTITY, SEMVER, URL
from dra_cel.uint import UInt
from dra_cel.values import MISSING, NONE, CelMap, Optional, type_name


def special(*args: Any) -> Any:
    """Stand for functions whose arguments are evaluated lazily; the evaluator never calls it."""
    raise EvaluationError("no such overload")


def _not_equal(left: Any, right: Any) -> bool:
    return not surely_equal(left, right)


def in_list(value: Any, items: tuple[Any, ...]) -> bool:
    """Return whether a list contains a value; elements that can't be compared with it are skipped."""
    if type(value) is uniform(items):
        return value in items
    return any(surely_equal(value, item) for item in paced(items))


def list_index(index: Any, length: int) -> int:
    """Return a list index as an int; -1 where it is out of range.

    Raises:
        EvaluationError: the index is no whole number.

    """
    kind = type(index)
    if kind not in (int, UInt):
        if kind is not float:
            raise EvaluationError(f"unsupported index type '{type_name(index)}' in list")
        if not index.is_integer():
            raise EvaluationError(f"unsupported index value {index} in list")
    return int(index) if 0 <= index < length else -1


def index_list(items: tuple[Any, ...], index: Any) -> Any:
    """Return an element of a list."""
    position = list_index(index, len(items))
    if position < 0:
        raise EvaluationError(f"index '{index}' out of range in list size '{len(items)}'")
    return items[position]


def index_map(entries: CelMap, key: Any) -> Any:
    """Return a value of a map."""
    value = entries.get(key)
    if value is MISSING:
        raise EvaluationError(f"no such key: {key}")
    return value


def optional_index(container: Any, key: Any) -> Optional:
    """Return `container[?key]`; what has no elements at all has none for the key either."""
    if type(container) is Optional:
        if not container.present:
            return NONE
        container = container.value
    if type(container) is tuple:
        position = list_index(key, len(container))
        return Optional(container[position]) if position >= 0 else NONE
    if type(container) is CelMap:
        value = container.get(key)
        return NONE if value is MISSING else Optional(value)
    return NONE


def index_optional(container: Optional, key: Any) -> Optional:
    """Return `optional[key]`: none stays none, an absent key or index is none too."""
    return optional_index(container, key)


def _not(value: bool) -> bool:
    return not value


def _equality_estimate(target: Operand | None, args: Any) -> Estimate | None:
    """Estimate `==`; Kubernetes' own types cost one unit."""
    left, right = args
    if left.type == right.type and left.type in (QUANTITY, SEMVER):
        return None
    if left.type == right.type and left.type.name in ("net.IP", "net.CIDR"):
        return None
    if left.type == right.type and left.type == FORMAT:
        return Estimate(_FORMAT_COST)
    if left.type == right.type and left.type == URL:
        # Kubernetes takes the size of the right one for both, and 1 where it knows none.
        size = UNIT if right.known_size is None else right.known_size
        return Estimate(Range(1, size.high).scaled(STRING_FACTOR))
    assert COMPARE.estimate is not None
    return COMPARE.estimate(target, args)


_FORMAT_COST = NOTHING._replace(low=1, high=7)


def _equality_runtime(args: Sequence[Any], result: Any) -> int:
    assert COMPARE.runtime is not None
    return 1 if type(args[0]) in STRICT else COMPARE.runtime(args, result)


EQUALS = Charge(_equality_runtime, _equality_estimate)


def _branches(target: Operand | None, args: Any) -> Estimate:
    return Estimate(NOTHING, args[1].size.union(args[2].size))


CONDITIONAL = Charge(None, _branches)

OVERLOADS = [
    overload("conditional", "_?_:_(bool, T, T) -> T", special, CONDITIONAL),
    overload("logical_and", "_&&_(bool, bool) -> bool", special),
    overload("logical_or", "_||_(bool, bool) -> bool", special),
    overload("logical_not", "!_(bool) -> bool", _not),
    overload("not_strictly_false", "@not_strictly_false(bool) -> bool", special),
    overload("equals", "_==_(T, T) -> bool", equal, EQUALS),
    overload("not_equals", "_!=_(T, T) -> bool", _not_equal, COMPARE),
    overload("index_list", "_[_](list(T), int) -> T", index_list),
    overload("index_map", "_[_](map(K, V), K) -> V", index_map),
    overload("optional_list_index_int", "_[_](optional(list(V)), int) -> optional(V)", index_optional),
    overload("optional_map_index_value", "_[_](optional(map(K, V)), K) -> optional(V)", index_optional),
    overload("list_optindex_optional_int", "_[?_](list(V), int) -> optional(V)", optional_index),
    overload("optional_list_optindex_optional_int", "_[?_](optional(list(V)), int) -> optional(V)", optional_index),
    overload("map_optindex_optional_value", "_[?_](map(K, V), K) -> optional(V)", optional_index),
    overload("optional_map_optindex_optional_value", "_[?_](optional(map(K, V)), K) -> optional(V)", optional_index),
    overload("select_optional_field", "_?._(dyn, string) -> optional(V)", special),
    overload("in_list", "@in(T, list(T)) -> bool", in_list, IN_LIST),
    overload("in_map", "@in(K, map(K, V)) -> bool", lambda key, entries: key in entries),
    overload("size_bytes", "size(bytes) -> int", len),
    member("bytes_size", "size(bytes) -> int", len),
    overload("size_list", "size(list(T)) -> int", len),
    member("list_size", "size(list(T)) -> int", len),
    overload("size_map", "size(map(K, V)) -> int", len),
    member("map_size", "size(map(K, V)) -> int", len),
    overload("size_string", "size(string) -> int", len),
    member("string_size", "size(string) -> int", len),
]
