"""Macros over lists and maps, and `cel.bind`.

Each macro has a loop of its own; what it costs is what CEL's general loop would count: condition, step
and accumulator, one unit per name and operator. An error in one turn does not end the loop: the turns that
follow cost what they cost, as in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dra_cel.ast import Call, Comprehension, ListExpr
from dra_cel.errors import EvaluationAborted, EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.functions.limits import check_elements
from dra_cel.plan import Plan
from dra_cel.plan_logic import not_bool
from dra_cel.values import MISSING, CelMap, type_name

if TYPE_CHECKING:
    from dra_cel.planner import Planner

_LIST_COST = 10


def plan_comprehension(planner: Planner, node: Comprehension) -> Plan:
    """Compile a loop."""
    if node.macro == "bind":
        return _plan_bind(planner, node)
    range_step = planner.plan(node.iter_range).step
    slot = planner.new_slot()
    variables = {node.iter_var: _local(slot)}
    if node.iter_var2:
        variables[node.iter_var2] = _local(planner.new_slot())
    planner.enter(variables)
    items = _items_step(range_step, slot, bool(node.iter_var2))
    step = _LOOPS[node.macro](planner, node, items)
    planner.leave()
    return Plan(step, planner.type_of(node))


Items = Step
"""Evaluates the range and returns an iterator that binds the loop's variables."""
Builder = Callable[["Planner", Comprehension, Items], Step]


def _local(slot: int) -> Step:
    def step(frame: Frame) -> Any:
        frame.cost += 1
        return frame.locals[slot]

    return step


def _items_step(range_step: Step, slot: int, pairs: bool) -> Items:
    def bind_each(frame: Frame, values: Iterable[Any]) -> Iterator[None]:
        variables = frame.locals
        for value in values:
            frame.check_cost()
            variables[slot] = value
            yield

    def bind_pairs(frame: Frame, values: Iterable[tuple[Any, Any]]) -> Iterator[None]:
        variables = frame.locals
        for first, second in values:
            frame.check_cost()
            variables[slot], variables[slot + 1] = first, second
            yield

    def step(frame: Frame) -> Iterator[None]:
        values = range_step(frame)
        if type(values) is tuple:
            return bind_pairs(frame, enumerate(values)) if pairs else bind_each(frame, values)
        if type(values) is CelMap:
            return bind_pairs(frame, values.items()) if pairs else bind_each(frame, values)
        raise EvaluationError(f"got '{type_name(values)}', expected iterable type")

    return step


def _quantifier(stop: bool, per_turn: int) -> Builder:
    """Return a builder for `exists` (stops at true) or `all` (stops at false)."""

    def build(planner: Planner, node: Comprehension, items: Items) -> Step:
        assert isinstance(node.step, Call)
        predicate = planner.plan(node.step.args[1]).step

        def step(frame: Frame) -> bool:
            failure: EvaluationError | None = None
            decided = False
            for _ in items(frame):
                frame.cost += per_turn
                if decided:
                    break
                frame.cost += 1
                try:
                    value = predicate(frame)
                    if value is stop:
                        decided = True
                    elif type(value) is not bool and failure is None:
                        failure = not_bool(value)
                except EvaluationAborted:
                    raise
                except EvaluationError as error:
                    failure = failure or error
            frame.cost += 1
            if failure is not None and not decided:
                raise failure
            return stop if decided else not stop

        return step

    return build


def _exists_one(planner: Planner, node: Comprehension, items: Items) -> Step:
    assert isinstance(node.step, Call)
    predicate = planner.plan(node.step.args[0]).step

    def step(frame: Frame) -> bool:
        count = 0
        failure: EvaluationError | None = None
        for _ in items(frame):
            try:
                value = predicate(frame)
            except EvaluationAborted:
                raise
            except EvaluationError as error:
                failure = failure or error
                continue
            if value is True:
                count += 1
                frame.cost += 2
            elif value is not False:
                failure = failure or not_bool(value)
        frame.cost += 2
        if failure is not None:
            raise failure
        return count == 1

    return step


def _filter_and_body(planner: Planner, node: Comprehension) -> tuple[Step | None, Call]:
    """Return the filter, if there is one, and the call that extends the accumulator."""
    step = node.step
    assert isinstance(step, Call)
    if step.function != "_?_:_":
        return None, step
    body = step.args[1]
    assert isinstance(body, Call)
    return planner.plan(step.args[0]).step, body


def _passes(keep: Step | None, frame: Frame) -> bool:
    """Return whether the filter lets an element pass; keeping the accumulator as it is costs nothing."""
    if keep is None:
        return True
    value = keep(frame)
    if value is True:
        return True
    if value is False:
        return False
    raise not_bool(value)


def _list(planner: Planner, node: Comprehension, items: Items) -> Step:
    keep, body = _filter_and_body(planner, node)
    appended = body.args[1]
    assert isinstance(appended, ListExpr)
    element = planner.plan(appended.elements[0])
    element_step = element.step
    cost = 2 if element.constant else 2 + _LIST_COST

    def step(frame: Frame) -> tuple[Any, ...]:
        result: list[Any] = []
        failure: EvaluationError | None = None
        for _ in items(frame):
            try:
                if _passes(keep, frame):
                    frame.cost += cost
                    result.append(element_step(frame))
            except EvaluationAborted:
                raise
            except EvaluationError as error:
                failure = failure or error
        frame.cost += 1
        if failure is not None:
            raise failure
        return tuple(result)

    return step


Insert = Callable[[Frame, CelMap], None]
"""Adds what one element yields to the result."""


def _map(planner: Planner, node: Comprehension, items: Items) -> Step:
    keep, body = _filter_and_body(planner, node)
    key_step, value_step = (planner.plan(argument).step for argument in body.args[1:])

    def insert(frame: Frame, result: CelMap) -> None:
        key = key_step(frame)
        try:
            value = value_step(frame)
        finally:
            frame.cost += 1
        _put_new(result, key, value)

    return _map_step(items, keep, insert, eager=False)


def _map_entry(planner: Planner, node: Comprehension, items: Items) -> Step:
    keep, body = _filter_and_body(planner, node)
    entries_step = planner.plan(body.args[1]).step

    def insert(frame: Frame, result: CelMap) -> None:
        try:
            entries = entries_step(frame)
        finally:
            frame.cost += 1
        if type(entries) is not CelMap:
            raise EvaluationError(f"transformMapEntry needs a map, not '{type_name(entries)}'")
        for key, value in entries.items():
            _put_new(result, key, value)

    return _map_step(items, keep, insert, eager=True)


def _map_step(items: Items, keep: Step | None, insert: Insert, eager: bool) -> Step:
    """Return the step of a loop that makes a map.

    Args:
        items: binds the variables.
        keep: the filter, if there is one.
        insert: adds what one element yields.
        eager: whether elements are still evaluated once the result is an error.

    """

    def step(frame: Frame) -> CelMap:
        result = CelMap()
        failure: EvaluationError | None = None
        for _ in items(frame):
            try:
                if _passes(keep, frame):
                    frame.cost += 1
                    if failure is None or eager:
                        insert(frame, result)
            except EvaluationAborted:
                raise
            except EvaluationError as error:
                failure = failure or error
        frame.cost += 1
        if failure is not None:
            raise failure
        return result

    return step


def _put_new(result: CelMap, key: Any, value: Any) -> None:
    if key in result:
        raise EvaluationError(f"insert failed: key {key} already exists")
    result.put(key, value)
    check_elements(len(result))


_LOOPS: dict[str, Builder] = {
    "all": _quantifier(stop=False, per_turn=2),
    "exists": _quantifier(stop=True, per_turn=3),
    "exists_one": _exists_one,
    "list": _list,
    "map": _map,
    "map_entry": _map_entry,
}


def _plan_bind(planner: Planner, node: Comprehension) -> Plan:
    """Compile `cel.bind(name, initial, result)`: the variable is computed at its first use, or never."""
    initial = planner.plan(node.initial).step
    slot = planner.new_slot()

    def variable(frame: Frame) -> Any:
        frame.cost += 1
        value = frame.locals[slot]
        if value is MISSING:
            try:
                value = initial(frame)
            except EvaluationAborted:
                raise
            except EvaluationError as error:
                value = error
            frame.locals[slot] = value
        if isinstance(value, EvaluationError):
            raise value.with_traceback(None)
        return value

    planner.enter({node.accumulator: variable})
    result = planner.plan(node.result).step
    planner.leave()

    def step(frame: Frame) -> Any:
        frame.locals[slot] = MISSING
        return result(frame)

    return Plan(step, planner.type_of(node))
