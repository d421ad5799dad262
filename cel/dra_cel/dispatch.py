"""Choosing the overload of a call by the classes of its arguments."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import chain
from typing import Any

from dra_cel import types as t
from dra_cel.errors import EvaluationError
from dra_cel.functions.table import Implementation, Overload, all_functions
from dra_cel.plan import Plan, certain_class
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver
from dra_cel.times import Duration, Timestamp, duration_of
from dra_cel.types import Kind, Type
from dra_cel.values import Optional, TypeValue, type_name

SINGLETONS = frozenset(
    {"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "!_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"}
    | {"@in", "size", "type", "dyn", "matches", "distinct", "sort", "@sortByAssociatedKeys"}
)
"""Functions with one implementation for all overloads: what the checker inferred does not matter at run time."""

_OBJECTS: dict[str, type] = {t.QUANTITY.name: Quantity, t.SEMVER.name: Semver, t.OPTIONAL_NAME: Optional}


def register_object(type_: Type, class_: type) -> None:
    """Tell the class of the values of an object type."""
    _OBJECTS[type_.name] = class_


def _accepted(type_: Type) -> type | None:
    """Return the class that a parameter accepts, or None where it accepts everything."""
    if type_.kind in (Kind.STRUCT, Kind.OPAQUE):
        return _OBJECTS[type_.name]
    if type_.kind is Kind.TIMESTAMP:
        return Timestamp
    if type_.kind is Kind.DURATION:
        return Duration
    if type_.kind is Kind.TYPE:
        return TypeValue
    if type_.kind is Kind.NULL:
        return type(None)
    return certain_class(type_)


_UNDECLARED: dict[str, list[tuple[tuple[type | None, ...], Implementation]]] = {
    "-_": [((Duration,), lambda value: duration_of(-value.nanos))]
}
"""What a function can do at run time with values of dynamic type, although the checker refuses these types."""

_SIGNATURES: dict[str, tuple[type | None, ...]] = {}
_ELEMENTS: dict[str, tuple[type | None, ...]] = {}


def _signature(entry: Overload) -> tuple[type | None, ...]:
    """Return the classes that an overload accepts."""
    known = _SIGNATURES.get(entry.id)
    if known is None:
        known = _SIGNATURES[entry.id] = tuple([_accepted(arg) for arg in entry.args])
    return known


def _accepts(accepted: Sequence[type | None], classes: Sequence[type]) -> bool:
    return all(wanted is None or wanted is given for wanted, given in zip(accepted, classes, strict=True))


def _elements(entry: Overload) -> tuple[type | None, ...]:
    """Return the classes of scalars that an overload's lists are of, None for other arguments; empty: of anything."""
    known = _ELEMENTS.get(entry.id)
    if known is None:
        lists = [arg.params[0] if arg.kind is Kind.LIST else None for arg in entry.args]
        wanted = [None if one is None or one.kind is Kind.LIST else _accepted(one) for one in lists]
        known = _ELEMENTS[entry.id] = tuple(wanted) if any(wanted) else ()
    return known


class Dispatcher:
    """Finds the implementation for argument classes; remembers what it found."""

    def __init__(self, function: str, overloads: Sequence[Overload]) -> None:
        self._function = function
        self._overloads = all_functions()[function] if function in SINGLETONS else overloads
        self.known: dict[Any, Implementation] = {}

    def find(self, args: Sequence[Any]) -> Implementation:
        """Return the implementation for these arguments.

        Raises:
            EvaluationError: no overload takes them.

        """
        classes = tuple([type(arg) for arg in args])
        declared = ((_signature(entry), entry) for entry in self._overloads)
        fitting = [entry for accepted, entry in declared if _accepts(accepted, classes)]
        if self._function not in SINGLETONS and any(map(_elements, fitting)):
            return self._by_elements(fitting, args)
        undeclared = (call for accepted, call in _UNDECLARED.get(self._function, ()) if _accepts(accepted, classes))
        call = next(chain((entry.call for entry in fitting), undeclared), None)
        if call is None:
            raise self._no_overload(args)
        self.known[classes[0] if len(classes) == 1 else classes] = call
        return call

    def _by_elements(self, fitting: Sequence[Overload], args: Sequence[Any]) -> Implementation:
        """Return the first one whose lists are of such elements: Kubernetes looks at the first element of each.

        The checker may have settled on lists of ints for what is of dynamic type, so a list of texts has no overload.
        """
        for entry in fitting:
            if all(
                wanted is None or not arg or wanted is type(arg[0])
                for wanted, arg in zip(_elements(entry) or (None,) * len(args), args, strict=True)
            ):
                return entry.call
        raise self._no_overload(args)

    def _no_overload(self, args: Sequence[Any]) -> EvaluationError:
        shown = ", ".join([type_name(arg) for arg in args])
        name = self._function.strip("_@").replace("_", "")
        return EvaluationError(f"no such overload: {name}({shown})")


@functools.cache
def _shared(function: str) -> Dispatcher:
    return Dispatcher(function, ())


def dispatcher(function: str, overloads: Sequence[Overload]) -> Dispatcher:
    """Return what finds the implementations of a call; calls of functions with one implementation share it."""
    return _shared(function) if function in SINGLETONS else Dispatcher(function, overloads)


def settled(overloads: Sequence[Overload], plans: Sequence[Plan]) -> Implementation | None:
    """Return the implementation where the static types leave no choice and need no check."""
    if len(overloads) != 1:
        return None
    entry = overloads[0]
    for accepted, given in zip(_signature(entry), plans, strict=True):
        if accepted is not None and not (given.certain and certain_class(given.type) is accepted):
            return None
    return entry.call
