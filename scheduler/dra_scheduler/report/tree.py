"""An explanation as a small tree of lines, for terminals: everything that is known, claim by claim."""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.facts import Condition
from dra_allocator.rejection import ClaimRejection, Explanation, ReasonCount, RequestRejection
from dra_scheduler.report.causes import lost_text, reason_text
from dra_scheduler.report.facts import fact_text
from dra_scheduler.report.phrases import counted
from dra_scheduler.report.sentences import elsewhere_text, missing_text, pinned_text, together_text
from dra_scheduler.report.viewer import Viewer

Branch = tuple[str, list["Branch"]]


def full(explanation: Explanation, viewer: Viewer) -> list[str]:
    """Return the lines."""
    branches = [_claim(claim, explanation, viewer) for claim in explanation.claims]
    branches += [(text, []) for text in _others(explanation, viewer)]
    return list(_drawn(branches))


def _claim(claim: ClaimRejection, explanation: Explanation, viewer: Viewer) -> Branch:
    requests = [_request(one, claim, explanation, viewer) for one in claim.requests]
    return f"claim {viewer.claim(claim.claim)}", requests


def _request(request: RequestRejection, claim: ClaimRejection, explanation: Explanation, viewer: Viewer) -> Branch:
    amount = f"all {request.wanted:,} devices" if request.is_all else counted(request.wanted, "device")
    verdict = f"{request.nodes_enough:,} of {counted(explanation.nodes, 'node')} have enough"
    head = f"request {request.request}: {amount} of class {request.device_class}; {verdict}"
    branches = [
        (reason_text(one, claim, viewer, "device") + _on_nodes(one), _facts(one))
        for one in request.reasons
        if one.devices
    ]
    if request.candidates:
        branches.append((f"{counted(request.candidates, 'device')} could be taken", []))
    if not request.of_class and not request.reasons:
        branches.append(("no device", []))
    near = request.nearest
    if near is not None:
        lost = lost_text(near)
        branches.append(
            (f"closest: {near.node} with {near.available:,} of {near.wanted:,}{f'; {lost}' if lost else ''}", [])
        )
    return head, branches


def _on_nodes(one: ReasonCount) -> str:
    return f" [on {counted(one.nodes, 'node')}]" if one.nodes > 1 else ""


def _facts(one: ReasonCount) -> list[Branch]:
    """What the line of the reason does not say: further conditions."""
    return [(fact_text(fact), []) for fact in one.facts[1:] if isinstance(fact, Condition)]


def _others(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    yield from missing_text(explanation)
    yield from pinned_text(explanation, viewer)
    if explanation.fits_on:
        yield f"it fits on {explanation.fits_on} now: something has changed since"
    elif explanation.nodes_enough:
        enough = f"{counted(explanation.nodes_enough, 'node')} have enough for each request alone"
        yield (
            f"{enough}; {counted(max(one.looked_at for one in explanation.together), 'node')} of them searched"
            if (explanation.together)
            else enough
        )
        for one in explanation.together:
            yield f"{together_text(one, viewer)} (so on {one.nodes:,} of {one.looked_at:,} nodes)"
    yield from elsewhere_text(explanation)


def _drawn(branches: list[Branch], indent: str = "") -> Iterator[str]:
    for number, (text, inner) in enumerate(branches):
        last = number == len(branches) - 1
        yield f"{indent}{'└─ ' if last else '├─ '}{text}"
        yield from _drawn(inner, indent + ("   " if last else "│  "))
