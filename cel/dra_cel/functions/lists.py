"""Functions of lists: Kubernetes' own, CEL's extensions, and the two that macros expand to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cmp_to_key
from typing import Any

from dra_cel.equality import compare, surely_equal, uniform
from dra_cel.errors import EvaluationError
from dra_cel.functions import list_charges as charges
from dra_cel.functions.addition import ZEROS, add_values
from dra_cel.functions.charges import INCLUDES, LIST_WALK
from dra_cel.functions.limits import MAX_ELEMENTS, check_elements
from dra_cel.functions.table import Overload, member, overload
from dra_cel.slices import gathered, paced, rest
from dra_cel.times import Duration, Timestamp
from dra_cel.uint import UInt
from dra_cel.values import CelMap, type_name

COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMABLE = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}
_COMPARABLE_CLASSES = (bool, int, UInt, float, str, bytes, Duration, Timestamp)


def _order(left: Any, right: Any) -> int | None:
    """Compare two elements; None where they can't be compared, which Kubernetes passes over."""
    numbers = (int, UInt, float)
    if type(left) is not type(right) and not (type(left) in numbers and type(right) in numbers):
        return None
    try:
        return compare(left, right)
    except EvaluationError:
        return None


def _check_comparable(items: Sequence[Any]) -> None:
    for item in paced(items):
        if type(item) not in _COMPARABLE_CLASSES:
            raise EvaluationError(f"no such overload: values of type '{type_name(item)}' can't be ordered")


def _is_sorted(items: Sequence[Any]) -> bool:
    _check_comparable(items)
    return all(_order(left, right) != 1 for left, right in itertools.pairwise(paced(items)))


def _extreme(name: str, sign: int) -> Any:
    def call(items: Sequence[Any]) -> Any:
        _check_comparable(items)
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        result = items[0]
        for item in paced(items):
            if _order(item, result) == sign:
                result = item
        return result

    return call


def _sum(zero: Any) -> Any:
    """Return the sum of a list whose declared type has that zero; its first element tells the real one."""

    def call(items: Sequence[Any]) -> Any:
        total = ZEROS.get(type(items[0])) if items else zero
        if total is None:
            raise EvaluationError(f"no such overload: sum of '{type_name(items[0])}'")
        for item in paced(items):
            total = add_values(total, item)
        return total

    return call


def _index_of(items: Sequence[Any], wanted: Any) -> int:
    for index, item in enumerate(paced(items)):
        if surely_equal(item, wanted):
            return index
    return -1


def _last_index_of(items: Sequence[Any], wanted: Any) -> int:
    for index in paced(range(len(items) - 1, -1, -1)):
        if surely_equal(items[index], wanted):
            return index
    return -1


def _includes(container: Any, wanted: Any) -> bool:
    """Return whether a list has an element, or whether a single value is the wanted one."""
    if type(container) is tuple:
        if type(wanted) is uniform(container):
            return wanted in container
        return any(surely_equal(item, wanted) for item in paced(container))
    return surely_equal(container, wanted)


def _slice(items: tuple[Any, ...], start: int, end: int) -> tuple[Any, ...]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: Sequence[Any], depth: int = 1) -> tuple[Any, ...]:
    if depth < 0:
        raise EvaluationError("flatten: level must be non-negative")
    return tuple(_flattened(items, depth))


def _flattened(items: Sequence[Any], depth: int) -> Iterator[Any]:
    count = 0
    pending = [(iter(paced(items)), depth)]
    while pending:
        iterator, level = pending[-1]
        for item in iterator:
            if type(item) is tuple and level > 0:
                pending.append((iter(paced(item)), level - 1))
                break
            count += 1
            check_elements(count)
            yield item
        else:
            pending.pop()


def _range(count: int) -> tuple[int, ...]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_ELEMENTS:
        raise EvaluationError(f"lists.range: size {count} exceeds the maximum of {MAX_ELEMENTS}")
    return gathered(range(count))


def _distinct(items: tuple[Any, ...]) -> tuple[Any, ...]:
    if uniform(items) is not None:
        return tuple(dict.fromkeys(paced(items)))
    result: list[Any] = []
    seen: set[tuple[type, Any]] = set()
    for item in items:
        rest()
        if type(item) in (str, bool, bytes):
            key = (type(item), item)
            if key in seen:
                continue
            seen.add(key)
        elif any(surely_equal(item, other) for other in result):
            continue
        result.append(item)
    return tuple(result)


def _sort(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return _sort_by_keys(items, items)


def _sort_by_keys(items: tuple[Any, ...], keys: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(items) != len(keys):
        raise EvaluationError(f"sortBy: {len(items)} elements, but {len(keys)} keys")
    if not items:
        return items
    if type(keys[0]) not in _COMPARABLE_CLASSES:
        raise EvaluationError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")

    if type(keys[0]) is float and any(map(math.isnan, keys)):
        return tuple([items[index] for index in _inserted(keys)])

    def order(left: int, right: int) -> int:
        return compare(keys[left], keys[right])

    return tuple([items[index] for index in sorted(range(len(items)), key=cmp_to_key(order))])


def _inserted(keys: Sequence[float]) -> list[int]:
    """The order of keys some of which are NaN: by insertion, as Kubernetes sorts short lists."""
    order: list[int] = []
    for index in paced(range(len(keys))):
        position = index
        while position > 0 and keys[index] < keys[order[position - 1]]:
            position -= 1
        order.insert(position, index)
    return order


def _map_insert(target: CelMap, key: Any, value: Any) -> CelMap:
    if key in target:
        raise EvaluationError(f"insert failed: key {key} already exists")
    result = target.copy()
    result.put(key, value)
    return result


def _map_insert_all(target: CelMap, entries: CelMap) -> CelMap:
    for key, value in entries.items():
        target = _map_insert(target, key, value)
    return target


def _per_type() -> list[Overload]:
    entries = []
    for type_ in COMPARABLE:
        list_ = f"list({type_})"
        entries += [
            member(f"list_{type_}_is_sorted_bool", f"isSorted({list_}) -> bool", _is_sorted, LIST_WALK),
            member(f"list_{type_}_max_{type_}", f"max({list_}) -> {type_}", _extreme("max", 1), LIST_WALK),
            member(f"list_{type_}_min_{type_}", f"min({list_}) -> {type_}", _extreme("min", -1), LIST_WALK),
            member(f"list_{type_}_sort", f"sort({list_}) -> {list_}", _sort, charges.sort(type_)),
            member(
                f"list_{type_}_sortByAssociatedKeys",
                f"@sortByAssociatedKeys(list(T), {list_}) -> list(T)",
                _sort_by_keys,
                charges.sort_by(type_),
            ),
        ]
    for type_, zero in _SUMMABLE.items():
        id_ = f"list_{type_}_sum_{type_}"
        entries.append(member(id_, f"sum(list({type_})) -> {type_}", _sum(zero), LIST_WALK))
    return entries


OVERLOADS = [
    *_per_type(),
    member("list_a_index_of_int", "indexOf(list(T), T) -> int", _index_of, LIST_WALK),
    member("list_a_last_index_of_int", "lastIndexOf(list(T), T) -> int", _last_index_of, LIST_WALK),
    member("list_includes_dyn_dyn", "includes(dyn, dyn) -> bool", _includes, INCLUDES),
    member("list_slice", "slice(list(T), int, int) -> list(T)", _slice, charges.SLICE),
    member("list_flatten", "flatten(list(list(T))) -> list(T)", _flatten, charges.FLATTEN),
    member("list_flatten_int", "flatten(list(dyn), int) -> list(dyn)", _flatten, charges.FLATTEN),
    overload("lists_range", "lists.range(int) -> list(int)", _range, charges.RANGE),
    member("list_reverse", "reverse(list(T)) -> list(T)", lambda items: items[::-1], charges.REVERSE),
    member("list_distinct", "distinct(list(T)) -> list(T)", _distinct, charges.DISTINCT),
    overload("@mapInsert_map_key_value", "cel.@mapInsert(map(K, V), K, V) -> map(K, V)", _map_insert),
    overload("@mapInsert_map_map", "cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)", _map_insert_all),
]
