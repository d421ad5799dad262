"""All checks over one snapshot, and over two of a cluster in motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dra_api.references import NODE, POD, RESOURCE_CLAIM, RESOURCE_SLICE, Resource
from dra_scheduler.audit import claims, pods, pools, use
from dra_scheduler.audit.finding import Finding
from dra_scheduler.audit.subject import Subject
from dra_scheduler.survey.snapshot import Snapshot

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: tuple[tuple[Check, tuple[Resource, ...]], ...] = (
    (use.held_twice, (RESOURCE_CLAIM,)),
    (use.shares, (RESOURCE_CLAIM, RESOURCE_SLICE)),
    (use.counters, (RESOURCE_CLAIM, RESOURCE_SLICE)),
    (pods.bound, (POD, RESOURCE_CLAIM, NODE)),
    (pods.gone, (POD, RESOURCE_CLAIM)),
    (claims.devices, (RESOURCE_CLAIM, RESOURCE_SLICE)),
    (claims.finalizers, (RESOURCE_CLAIM,)),
    (claims.timestamps, (RESOURCE_CLAIM,)),
    (pools.pools, (RESOURCE_SLICE,)),
)
"""Each check and the kinds that it cannot do without."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and which checks were left out because of kinds that could not be read."""

    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()


def audit(snapshot: Snapshot) -> Report:
    """Run all checks for which there is what they need; findings in the order of their names and objects."""
    subject = Subject.of(snapshot)
    findings = [_unreadable(problem) for problem in subject.problems]
    left_out = []
    for check, needed in CHECKS:
        missing = [resource.plural for resource in needed if not snapshot.has(resource)]
        if missing:
            left_out.append(f"{check.__name__.replace('_', ' ')}: cannot be checked without {', '.join(missing)}")
        else:
            findings += check(subject)
    return Report(tuple(sorted(set(findings))), tuple(left_out))


def lasting(first: Report, second: Report) -> Report:
    """Return what both looks found, as the second one has it.

    Objects of different kinds are not read at the same moment, and controllers set some things right within seconds.
    """
    known = {finding.identity for finding in first.findings}
    kept = [finding for finding in second.findings if finding.identity in known]
    return Report(tuple(kept), second.left_out)


def counted(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many findings there are of each name."""
    names = sorted({finding.name for finding in findings})
    return {name: sum(finding.name == name for finding in findings) for name in names}


def _unreadable(problem: str) -> Finding:
    name, _, text = problem.partition(": ")
    return Finding("object-unreadable", name, text)
