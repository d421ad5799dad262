"""An explanation as a small tree of lines, for terminals: everything that is known, claim by claim."""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.facts import Condition
from dra_allocator.rejection import ClaimRejection, Explanation, NearestMiss, ReasonCount, RequestRejection
from dra_scheduler.report.causes import wanted_text
from dra_scheduler.report.facts import fact_text
from dra_scheduler.report.phrases import counted
from dra_scheduler.report.reasons import lost_text, reason_text
from dra_scheduler.report.sentences import elsewhere_text, missing_text, pinned_text, together_text
from dra_scheduler.report.viewer import Viewer

Branch = tuple[str, list["Branch"]]


def full(explanation: Explanation, viewer: Viewer) -> list[str]:
    """Return the lines."""
    branches = [_claim(claim, explanation, viewer) for claim in explanation.claims if explanation.nodes]
    branches += [(text, []) for text in _others(explanation, viewer)]
    return list(_drawn(branches))


def _claim(claim: ClaimRejection, explanation: Explanation, viewer: Viewer) -> Branch:
    requests = [_request(one, explanation.nodes, viewer) for one in claim.requests]
    return f"claim {viewer.claim(claim.claim)}", requests


def _request(request: RequestRejection, nodes: int, viewer: Viewer) -> Branch:
    some = f"{request.nodes_enough:,}" if request.nodes_enough else "none"
    verdict = f"enough on {some} of {counted(nodes, 'node')}"
    branches = [
        (f"{reason_text(one, request, viewer, 'device')}{_on_nodes(one)}", _more(one))
        for one in request.reasons
        if one.devices
    ]
    if request.candidates:
        branches.append((f"{counted(request.candidates, 'device')} could be taken", []))
    if not branches:
        branches.append(("there is no device", []))
    if request.nearest is not None and nodes > 1:
        branches.append((_closest(request.nearest), []))
    return (
        f"request {request.request} wants {wanted_text(request)} of class {request.device_class}: {verdict}",
        branches,
    )


def _closest(near: NearestMiss) -> str:
    lost = lost_text(near)
    return f"closest is {near.node} with {near.available:,} of {near.wanted:,}{f': {lost}' if lost else ''}"


def _on_nodes(one: ReasonCount) -> str:
    return f" [{counted(one.nodes, 'node')}]"


def _more(one: ReasonCount) -> list[Branch]:
    """What the line of the reason does not say: further conditions."""
    return [(f"also {fact_text(fact)}", []) for fact in one.facts[1:] if isinstance(fact, Condition)]


def _others(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    yield from missing_text(explanation, viewer)
    yield from pinned_text(explanation, viewer)
    if explanation.fits_on:
        yield f"there is room on {explanation.fits_on} now: something has changed since"
    elif explanation.nodes_enough:
        yield f"each request alone has enough on {counted(explanation.nodes_enough, 'node')}, but not all together:"
        for one in explanation.together:
            searched = f"{one.nodes:,} of {counted(one.looked_at, 'node')} searched"
            yield f"{together_text(one, explanation, viewer)} [{searched}]"
    if explanation.left_out:
        yield f"{counted(explanation.left_out, 'more request')} that differ from these were not looked at"
    yield from elsewhere_text(explanation)


def _drawn(branches: list[Branch], indent: str = "") -> Iterator[str]:
    for number, (text, inner) in enumerate(branches):
        last = number == len(branches) - 1
        yield f"{indent}{'└─ ' if last else '├─ '}{text}"
        yield from _drawn(inner, indent + ("   " if last else "│  "))
