"""Overload resolution: which signatures of a function fit the static types of its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from dra_cel.environment import Environment
from dra_cel.functions.table import Overload
from dra_cel.types import DYN, Type
from dra_cel.unification import Unifier

MAX_MATCHES = 4096
"""Resolved calls that are remembered between expressions."""

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
    if any(arg.is_open or arg.nullable for arg in args):
        return _match(environment, unifier, name, args, member)
    # With closed types nothing depends on the expression, so the result serves all of them.
    key = (name, member, tuple(args))
    found = environment.matches.get(key)
    if found is None:
        found = _match(environment, unifier, name, args, member)
        if found[0] is not None and not found[0].is_open:
            if len(environment.matches) >= MAX_MATCHES:
                environment.matches.clear()
            environment.matches[key] = found
    return found


def _match(environment: Environment, unifier: Unifier, name: str, args: Sequence[Type], member: bool) -> Match:
    result: Type | None = None
    applicable = []
    for entry in environment.functions[name]:
        if entry.member is not member or len(entry.args) != len(args):
            continue
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
