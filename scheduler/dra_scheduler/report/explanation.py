"""Our explanation of a rejection: per claim and request why devices fell out, what is most of it first.

Goes into events, so it names no claims: those that hold the devices may be of other namespaces.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_allocator.rejection import ClaimRejection, ReasonCount, RequestRejection

NOTE_LIMIT = 1024
"""Bytes that the API server takes as an event's note."""
ENDING = " ..."

_TEXTS = {
    "no-class": "the DeviceClass does not exist",
    "no-device-visible": "no device can be reached",
    "class-selector": "not in the class",
    "claim-selector": "selector is false",
    "selector-error": "selector fails",
    "unsupported-device": "cannot be used",
    "tainted": "tainted",
    "in-use": "in use",
    "counters": "shared counters used up",
    "capacity": "too little capacity",
    "constraint": "constraint not met",
    "compatibility-groups": "incompatible with what is in use beside it",
    "node-features": "the node lacks a feature",
    "incomplete-pool": "pool not complete",
    "invalid-pool": "pool invalid",
    "too-few": "too few on one node",
    "too-many": "more devices than a claim may have",
}


def explanation(claims: Sequence[ClaimRejection]) -> str:
    """Return the text for all claims."""
    return "; ".join(_claim(claim) for claim in claims)


def note(message: str, claims: Sequence[ClaimRejection]) -> str:
    """Return the note of a FailedScheduling event: kube-scheduler's message, then ours, within the limit."""
    details = explanation(claims)
    return cut(f"{message} {details}" if details else message)


def cut(text: str) -> str:
    """Cut a text to what a note may have, between characters."""
    encoded = text.encode()
    if len(encoded) <= NOTE_LIMIT:
        return text
    return encoded[: NOTE_LIMIT - len(ENDING)].decode("utf-8", "ignore") + ENDING


def _claim(claim: ClaimRejection) -> str:
    return f"claim {claim.claim}: " + ", ".join(_request(request) for request in claim.requests)


def _request(request: RequestRejection) -> str:
    reasons = ", ".join(_reason(reason) for reason in request.reasons) or "no reason known"
    text = f"request {request.request} wants {request.wanted} of {request.candidates} devices ({reasons})"
    if request.nearest is not None:
        text += f", nearest is node {request.nearest.node} with {request.nearest.available}"
    return text


def _reason(reason: ReasonCount) -> str:
    text = _TEXTS[reason.reason] + (f" [{reason.detail}]" if reason.detail else "")
    if reason.devices:
        return f"{reason.devices} {text}"
    return f"{text} on {reason.nodes} nodes" if reason.nodes else text
