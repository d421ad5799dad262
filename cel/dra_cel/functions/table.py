"""The function table: one entry per overload. It drives checker, evaluator, vectoriser and cost."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dra_cel.functions.charges import ONE, Charge
from dra_cel.types import Type, parse_type, split_types

Implementation = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """One signature of a function. Each is there once, so they compare by identity, which is fast.

    Attributes:
        id: unique name, as in CEL's own declarations.
        function: the name that expressions use; with dots where it has a namespace.
        member: whether it is called as `receiver.function(...)`; the receiver is the first argument then.
        args: static types of the arguments.
        result: static type of the result.
        call: the implementation: values in, value out; raises EvaluationError.
        charge: what it costs at run time and, at most, statically.
        generic: whether its signature has type parameters.

    """

    id: str
    function: str
    member: bool
    args: tuple[Type, ...]
    result: Type
    call: Implementation
    charge: Charge = ONE
    generic: bool = False


def overload(id_: str, signature: str, call: Implementation, charge: Charge = ONE, member: bool = False) -> Overload:
    """Return an entry for `function(type, type) -> type`."""
    name, _, rest = signature.partition("(")
    arguments, _, result = rest.rpartition(") -> ")
    args = tuple(parse_type(text) for text in split_types(arguments))
    returned = parse_type(result)
    generic = returned.is_open or any(arg.is_open for arg in args)
    return Overload(id_, name, member, args, returned, call, charge, generic)


def member(id_: str, signature: str, call: Implementation, charge: Charge = ONE) -> Overload:
    """Return an entry for a function that is called on its first argument."""
    return overload(id_, signature, call, charge, member=True)


def by_name(overloads: Iterable[Overload]) -> Mapping[str, tuple[Overload, ...]]:
    """Group overloads by function."""
    grouped: dict[str, list[Overload]] = {}
    for entry in overloads:
        grouped.setdefault(entry.function, []).append(entry)
    return {name: tuple(entries) for name, entries in grouped.items()}


@functools.cache
def all_functions() -> Mapping[str, tuple[Overload, ...]]:
    """Return every function of Kubernetes 1.37's environment by name."""
    from dra_cel.functions.catalogue import OVERLOADS

    return by_name(OVERLOADS)
