"""Our explanation of a rejection in one line: what helps most comes first.

Goes into events, so it names claims of the pod's own namespace only; see `viewer`. `full` has it all, for terminals,
`as_data` the data for machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.rejection import ClaimRejection, Explanation, RequestRejection
from dra_scheduler.report.causes import UNFIT, cause
from dra_scheduler.report.data import as_data
from dra_scheduler.report.phrases import ended, sentences, some_of
from dra_scheduler.report.sentences import (
    elsewhere_text,
    missing_text,
    nowhere_together_text,
    pinned_text,
    together_text,
)
from dra_scheduler.report.tree import full
from dra_scheduler.report.viewer import NOBODY, Viewer, viewer_of

__all__ = ["NOBODY", "NOTE_LIMIT", "Viewer", "as_data", "cut", "full", "note", "summary", "viewer_of"]

NOTE_LIMIT = 1024
"""Bytes that the API server takes as an event's note."""
ENDING = " ..."
_RULES_TOLD = 2


def summary(explanation: Explanation, viewer: Viewer) -> str:
    """Return the explanation in one line; empty if nothing is known."""
    parts = [*missing_text(explanation, viewer), *pinned_text(explanation, viewer), *_requests(explanation, viewer)]
    if explanation.fits_on:
        parts.append(f"there is room on {explanation.fits_on} now, where the pod is going to be tried again")
    elif explanation.nodes_enough:
        parts += [together_text(one, explanation, viewer) for one in explanation.together[:_RULES_TOLD]]
    elsewhere = list(elsewhere_text(explanation))
    return sentences([*elsewhere, *parts] if _never(explanation) else [*parts, *elsewhere])


def note(message: str, explanation: Explanation, viewer: Viewer) -> str:
    """Return the note of a FailedScheduling event: our explanation, then kube-scheduler's message, within the limit."""
    said = summary(explanation, viewer)
    return cut(f"{ended(said)} {message}" if said else message)


def cut(text: str) -> str:
    """Cut a text to what a note may have, between characters."""
    encoded = text.encode()
    if len(encoded) <= NOTE_LIMIT:
        return text
    return encoded[: NOTE_LIMIT - len(ENDING)].decode("utf-8", "ignore") + ENDING


def _requests(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    """Yield what is said of the requests that no node has enough for; claims that differ in name only, at once."""
    if not explanation.nodes or not explanation.claims:
        return
    left = "" if explanation.elsewhere is None else f"on the {_remaining(explanation.nodes)} not ruled out, "
    said: dict[str, list[str]] = {}
    for claim in explanation.claims:
        for request in _failing(claim):
            text = f"request {request.request}: {left}{cause(request, viewer)}"
            said.setdefault(text, []).append(viewer.claim(claim.claim))
    for text, claims in said.items():
        yield f"claim{'s' if len(claims) > 1 else ''} {some_of(claims)}, {text}"
    if not said and not explanation.nodes_enough:
        yield nowhere_together_text(explanation, viewer)


def _remaining(nodes: int) -> str:
    return "only node that is" if nodes == 1 else f"{nodes:,} nodes that are"


def _never(explanation: Explanation) -> bool:
    """Return whether some request finds nothing that could ever do on the nodes that were asked: help is elsewhere."""
    return any(
        all(one.reason in UNFIT for one in request.reasons if one.devices)
        for claim in explanation.claims
        for request in _failing(claim)
    )


def _failing(claim: ClaimRejection) -> list[RequestRejection]:
    """Return the requests for which no node has enough; one with alternatives only if that is so for all of them."""
    groups: dict[str, list[RequestRejection]] = {}
    for request in claim.requests:
        groups.setdefault(request.request.partition("/")[0], []).append(request)
    return [one for group in groups.values() if not any(each.nodes_enough for each in group) for one in group]
