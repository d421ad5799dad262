"""Overload resolution: which signatures of a function fit the static types of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dra_cel.environment import Environment
from dra_cel.functions.table import Overload
from dra_cel.types import DYN, Kind, Type
from dra_cel.unification import Unifier

MAX_MATCHES = 4096
"""Resolved calls that are remembered between expressions."""

_ADAPTABLE = frozenset({Kind.PARAM, Kind.DYN, Kind.ANY, Kind.NULL})
"""Kinds of types that may fit types of other kinds."""

Match = tuple[Type | None, tuple[Overload, ...]]
"""Result type and overloads that fit; None and nothing where none does."""


def match(environment: Environment, unifier: Unifier, name: str, args: Sequence[Type], member: bool) -> Match:
    """Return the result type of a call, dyn where its overloads disagree, and the overloads that fit.

    Args:
        environment: has the function.
        unifier: binds the type parameters of the expression.
        name: the function.
        args: static types; the receiver is the first one.
        member: whether the function is called on a receiver.

    """
    rule = _RULES.get(name)
    if rule is not None and (result := rule(unifier, args)) is not None:
        return result, _candidates(environment, name, args, member)
    for arg in args:
        if arg.is_open or arg.nullable:
            return _match(environment, unifier, name, args, member)
    # With closed types nothing depends on the expression, so the result serves all of them.
    key = (name, member, *map(id, args))
    known = environment.matches.get(key)
    if known is not None:
        return known[0], known[1]
    found = _match(environment, unifier, name, args, member)
    if found[0] is not None and not found[0].is_open:
        if len(environment.matches) >= MAX_MATCHES:
            environment.matches.clear()
        environment.matches[key] = (*found, args)
    return found


def _sum(unifier: Unifier, args: Sequence[Type]) -> Type | None:
    """Return the type of a sum of lists; None: the general rule tells."""
    left, right = args
    if left.kind is not Kind.LIST or right.kind is not Kind.LIST:
        return None
    element = unifier.join(left.params[0], right.params[0])
    if element is None:
        return None
    return unifier.substitute(left if element is left.params[0] else right)


def _choice(unifier: Unifier, args: Sequence[Type]) -> Type | None:
    """Return the type of `a ? b : c`; None: the general rule tells."""
    condition, then, other = args
    result = unifier.join(then, other, condition)
    return None if result is None else unifier.substitute(result)


_RULES: dict[str, Callable[[Unifier, Sequence[Type]], Type | None]] = {"_+_": _sum, "_?_:_": _choice}
"""Operators whose arguments decide the overload; the general rule would make type parameters for each call."""


def _match(environment: Environment, unifier: Unifier, name: str, args: Sequence[Type], member: bool) -> Match:
    result: Type | None = None
    applicable = []
    for entry in _candidates(environment, name, args, member):
        signature = (entry.result, *entry.args)
        declared, *wanted = unifier.instantiate(signature) if entry.generic else signature
        if unifier.all_assignable(args, wanted):
            applicable.append(entry)
            declared = unifier.substitute(declared)
            if result is None:
                result = declared
            elif not result.is_dyn and declared != result:
                result = DYN
    return result, tuple(applicable)


def _candidates(environment: Environment, name: str, args: Sequence[Type], member: bool) -> tuple[Overload, ...]:
    """Return the overloads that may fit, by their number of arguments and the kinds of these; most do not."""
    key = (name, member, *[arg.kind for arg in args])
    found = environment.candidates.get(key)
    if found is None:
        found = tuple([entry for entry in environment.functions[name] if _may_fit(entry, args, member)])
        if len(environment.candidates) >= MAX_MATCHES:
            environment.candidates.clear()
        environment.candidates[key] = found
    return found


def _may_fit(entry: Overload, args: Sequence[Type], member: bool) -> bool:
    if entry.member is not member or len(entry.args) != len(args):
        return False
    return all(
        given.kind is wanted.kind or given.kind in _ADAPTABLE or wanted.kind in _ADAPTABLE
        for given, wanted in zip(args, entry.args, strict=True)
    )
