"""Runs all rules over manifests."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from dra_api.errors import describe
from dra_api.manifests import Document, Manifests, Problem
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.lint.finding import Fault, Finding, Rule
from dra_scheduler.lint.inputs import Inputs, Name, Scope
from dra_scheduler.lint.registry import RULES
from dra_scheduler.lint.surroundings import NOTHING, Surroundings

_IGNORED = frozenset(("unknown-kind",))
"""Of reading: what other commands cannot use may be here all the same."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found.

    Attributes:
        findings: by file, line and field.
        unreadable: texts that could not be read at all; nothing is known about what they hold.
        objects: how many objects were looked at, those included of which some field cannot be read.

    """

    findings: tuple[Finding, ...]
    unreadable: tuple[Problem, ...]
    objects: int


def lint(
    manifests: Manifests,
    gates: FeatureGates,
    minor: int,
    *,
    around: Surroundings = NOTHING,
    ignored: Iterable[str] = (),
) -> Report:
    """Look for everything that the rules know.

    Args:
        manifests: what was read.
        gates: of the cluster that they are for.
        minor: its version, Kubernetes 1.`minor`.
        around: the cluster that they are for. Its own objects are looked at where there are no manifests.
        ignored: names of rules that are left out.

    """
    unreadable = tuple(problem for problem in manifests.problems if not problem.code)
    has_gaps = bool(unreadable) or around.has_gaps
    scope = Scope(gates, minor, around.whole, frozenset(_unread(manifests.problems)), has_gaps)
    given = manifests.documents
    replaced = {document.key for document in given}
    others = tuple(document for document in around.documents if document.key not in replaced)
    inputs = Inputs((*others, *given), scope)
    rules = [rule for name, rule in RULES.items() if name not in set(ignored)]
    judged = given if given or manifests.problems else others
    places = {id(document) for document in judged}
    unread = len(scope.unread - {tuple(document.key) for document in given})
    found = {*_of_reading(manifests, rules), *(one for rule in rules for one in _of_rule(rule, inputs, places))}
    return Report(tuple(sorted(found, key=lambda one: one.order)), unreadable, len(judged) + unread)


def _of_reading(manifests: Manifests, rules: list[Rule]) -> Iterator[Finding]:
    by_name = {rule.name: rule for rule in rules}
    for problem in (*manifests.warnings, *manifests.problems):
        rule = by_name.get(problem.code)
        if rule is not None:
            yield Finding(rule.name, rule.severity, problem)
        elif problem.code and problem.code not in RULES and problem.code not in _IGNORED:
            raise AssertionError(f"{problem.code} is no rule")


def _of_rule(rule: Rule, inputs: Inputs, places: Container[int]) -> Iterator[Finding]:
    for fault in rule.check(inputs) if rule.check is not None else ():
        if id(fault.document) in places:
            yield Finding(rule.name, rule.severity, _placed(fault))


def _placed(fault: Fault) -> Problem:
    document: Document = fault.document
    line = document.line_of(fault.field)
    key = document.key
    name = key.name or str(document.object["metadata"].get("generateName") or "")
    return Problem(
        document.source, line, describe(key.kind, key.namespace, name), fault.field, fault.problem, fault.hint
    )


def _unread(problems: Iterable[Problem]) -> Iterator[Name]:
    """Yield the objects that are there and could not be read."""
    for problem in problems:
        kind, _, name = problem.object.partition(" ")
        if kind:
            namespace, slash, last = name.partition("/")
            yield (kind, namespace, last) if slash else (kind, "", name)
