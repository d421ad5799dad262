"""Constraints that nothing satisfies, or that compare nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dra_allocator.claim import Constraint
from dra_scheduler.lint.attributes import nearest
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.judge import BoolArray
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
    carriers = inputs.shared(_carriers)
    for source, path, constraint, covered in _constraints(inputs):
        attribute = constraint.attribute
        lacking = next((ask for ask in covered if "/" in attribute and not _has_it(inputs, ask, attribute)), None)
        if lacking is None:
            continue
        where = f"{path}.{'matchAttribute' if constraint.kind == 'match' else 'distinctAttribute'}"
        if attribute in carriers:
            problem = f"no device that request {lacking.reference} matches has the attribute {attribute}"
            yield Fault(source.document, where, problem, "name only requests whose devices have it")
        else:
            problem = f"no device has the attribute {attribute}"
            yield Fault(source.document, where, problem, nearest(attribute, carriers))


def _has_it(inputs: Inputs, ask: Ask, attribute: str) -> bool:
    """Tell whether a device that the request matches has the attribute, or that cannot be told."""
    if any(one.name == attribute for one in ask.request.derived_attributes):
        return True
    having = inputs.shared(_carriers).get(attribute)
    matching = inputs.matching(ask)
    if having is None or matching is None or not matching.any():
        return having is not None
    return bool((matching & having).any())


def _carriers(inputs: Inputs) -> dict[str, BoolArray]:
    """Return, by attribute, the devices that have it."""
    found: dict[str, BoolArray] = {}
    for row, one in enumerate(inputs.published.devices):
        for name in one.fields.attributes:
            if name not in found:
                found[name] = np.zeros(len(inputs.published.devices), np.bool_)
            found[name][row] = True
    return found


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
