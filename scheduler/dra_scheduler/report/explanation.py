"""Our explanation of a rejection in one line: what helps most comes first.

Goes into events, so it names claims of the pod's own namespace only; see `viewer`. `full` has it all, for terminals,
`as_data` the data for machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.rejection import ClaimRejection, Explanation, RequestRejection
from dra_scheduler.report.causes import cause, needs
from dra_scheduler.report.data import as_data
from dra_scheduler.report.phrases import counted, listed, some_of
from dra_scheduler.report.sentences import elsewhere_text, missing_text, pinned_text, together_text
from dra_scheduler.report.tree import full
from dra_scheduler.report.viewer import Viewer, viewer_of

__all__ = ["NOTE_LIMIT", "Viewer", "as_data", "cut", "full", "note", "summary", "viewer_of"]

NOTE_LIMIT = 1024
"""Bytes that the API server takes as an event's note."""
ENDING = " ..."


def summary(explanation: Explanation, viewer: Viewer) -> str:
    """Return the explanation in one line; empty if nothing is known."""
    parts = [*missing_text(explanation), *pinned_text(explanation, viewer)]
    parts += _requests(explanation, viewer)
    if explanation.fits_on:
        parts.append(f"it fits on {explanation.fits_on} now and is going to be tried again")
    elif explanation.claims and explanation.nodes_enough:
        parts += [together_text(one, viewer) for one in explanation.together[:2]]
    parts += elsewhere_text(explanation)
    return "; ".join(part for part in parts if part)


def note(message: str, explanation: Explanation, viewer: Viewer) -> str:
    """Return the note of a FailedScheduling event: our explanation, then kube-scheduler's message, within the limit."""
    said = summary(explanation, viewer)
    return cut(f"{said}. {message}" if said else message)


def cut(text: str) -> str:
    """Cut a text to what a note may have, between characters."""
    encoded = text.encode()
    if len(encoded) <= NOTE_LIMIT:
        return text
    return encoded[: NOTE_LIMIT - len(ENDING)].decode("utf-8", "ignore") + ENDING


def failing(claim: ClaimRejection) -> list[RequestRejection]:
    """Return the requests for which no node has enough; one with alternatives only if that is so for all of them."""
    groups: dict[str, list[RequestRejection]] = {}
    for request in claim.requests:
        groups.setdefault(request.request.partition("/")[0], []).append(request)
    return [one for group in groups.values() if not any(each.nodes_enough for each in group) for one in group]


def _requests(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    """Yield what is said of the requests that no node has enough for; claims that differ in name only, at once."""
    said: dict[str, list[str]] = {}
    for claim in explanation.claims:
        for request in failing(claim):
            texts = [text for text in (needs(request), cause(request, claim, viewer)) if text]
            said.setdefault(f"request {request.request}: {'; '.join(texts)}", []).append(viewer.claim(claim.claim))
    for text, claims in said.items():
        yield f"claim{'s' if len(claims) > 1 else ''} {some_of(claims)}, {text}"
    if not said and explanation.claims and not explanation.nodes_enough and explanation.nodes:
        yield _nowhere_together(explanation, viewer)


def _nowhere_together(explanation: Explanation, viewer: Viewer) -> str:
    """Each request alone has nodes, but there is no node for all."""
    each = [
        f"request {request.request} of claim {viewer.claim(claim.claim)} on {counted(request.nodes_enough, 'node')}"
        for claim in explanation.claims
        for request in claim.requests
        if request.nodes_enough < explanation.nodes
    ]
    near = f"; {explanation.nearest} comes closest" if explanation.nearest else ""
    return f"no node has devices for all requests: there are some for {listed(each)}{near}"
