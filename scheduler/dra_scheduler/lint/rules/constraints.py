"""Constraints that nothing satisfies, or that compare nothing."""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.claim import Constraint
from dra_scheduler.lint.attributes import nearest
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.sources import Ask, ClaimSource


def _constraints(inputs: Inputs) -> Iterator[tuple[ClaimSource, str, Constraint, list[Ask]]]:
    """Yield each constraint with its path and the requests that it is about."""
    for source in inputs.claims:
        asks = list(source.asks())
        for i, constraint in enumerate(source.claim.constraints):
            if constraint.unsupported is None:
                covered = [ask for ask in asks if covers(constraint.requests, ask.reference)]
                yield source, f"{source.path}.devices.constraints[{i}]", constraint, covered


def covers(names: tuple[str, ...], reference: str) -> bool:
    """Tell whether a list of references to requests includes this one; an empty list includes all."""
    return not names or reference in names or reference.partition("/")[0] in names


def _unknown_attribute(inputs: Inputs) -> Iterator[Fault]:
    if not inputs.knows_devices:
        return
    known = {name for one in inputs.published.devices for name in one.fields.attributes}
    for source, path, constraint, covered in _constraints(inputs):
        derived = {one.name for ask in covered for one in ask.request.derived_attributes}
        if constraint.attribute not in known | derived and "/" in constraint.attribute:
            field = "matchAttribute" if constraint.kind == "match" else "distinctAttribute"
            problem = f"no device has the attribute {constraint.attribute}"
            yield Fault(source.document, f"{path}.{field}", problem, nearest(constraint.attribute, known))


def _without_effect(inputs: Inputs) -> Iterator[Fault]:
    for source, path, constraint, covered in _constraints(inputs):
        names = {ask.reference for ask in covered} | {ask.reference.partition("/")[0] for ask in covered}
        if not set(constraint.requests) <= names:
            continue  # what it is meant for is not known
        of_request: dict[str, int] = {}
        for ask in covered:
            many = ask.request.count if ask.request.mode == "ExactCount" else 2
            name = ask.reference.partition("/")[0]
            of_request[name] = max(of_request.get(name, 0), many)
        if sum(of_request.values()) == 1:
            problem = "is about one device only, so there is nothing to compare"
            yield Fault(source.document, path, problem, "name more requests, or none for all")


RULES = (
    Rule("constraint-unknown-attribute", "error", "a constraint compares what no device has", _unknown_attribute),
    Rule("constraint-without-effect", "warning", "a constraint is about a single device", _without_effect),
)
