"""Our explanation of a rejection: per claim and request why devices fell out, what is most of it first.

Goes into events, so it names no claims: those that hold the devices may be of other namespaces.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_allocator.rejection import ClaimRejection, ReasonCount, RequestRejection

NOTE_LIMIT = 1024
"""Bytes that the API server takes as an event's note."""
ENDING = " ..."

# "5 devices ..."
_DEVICES = {
    "class-selector": "are not of the class",
    "claim-selector": "do not match {detail}",
    "selector-error": "fail in {detail}",
    "not-evaluated": "were left out because {detail} is costly",
    "unsupported-device": "cannot be used",
    "tainted": "are tainted",
    "in-use": "are in use",
    "counters": "find their shared counters used up",
    "capacity": "have too little capacity left",
    "compatibility-groups": "do not go with what is in use beside them",
    "node-features": "need a feature that their node lacks",
    "incomplete-pool": "are in an incomplete pool",
    "invalid-pool": "are in an invalid pool",
}
# "..., on 5 nodes"
_NODES = {
    "no-class": "the DeviceClass does not exist",
    "no-device-visible": "no device can be reached",
    "constraint": "no choice meets the constraint",
    "counters": "the shared counters do not suffice",
    "capacity": "the capacity does not suffice",
    "compatibility-groups": "no choice goes together",
    "node-features": "the node lacks a feature that the devices need",
    "incomplete-pool": "a pool is incomplete",
    "invalid-pool": "a pool is invalid",
    "too-few": "there are too few devices",
    "too-many": "that is more than the 32 devices that a claim may have",
}
_DETAILED = frozenset(("claim-selector", "selector-error", "not-evaluated"))


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
    return f"claim {claim.claim}: " + "; ".join(_request(request) for request in claim.requests)


def _request(request: RequestRejection) -> str:
    """`request gpu needs 2 devices on one node, node-1 comes closest with 1: 6 are in use, 3 do not match ...`."""
    text = f"request {request.request} needs {_counted(request.wanted, 'device')}"
    if request.nearest is not None:
        text += " on one node, "
        closest = f"{request.nearest.node} comes closest with {request.nearest.available}"
        text += closest if request.nearest.available else "no node has one"
    reasons = [said for reason in request.reasons if (said := _reason(reason))]
    return text + (": " + ", ".join(reasons) if reasons else "")


def _reason(reason: ReasonCount) -> str:
    """One reason; empty for what `nearest` says already."""
    if reason.devices and reason.reason in _DEVICES:
        said = _DEVICES[reason.reason].format(detail=reason.detail or "the selector")
        named = f" ({reason.detail})" if reason.detail and reason.reason not in _DETAILED else ""
        return f"{reason.devices} {said}{named}"
    if reason.reason not in _NODES or (reason.reason == "too-few" and not reason.detail):
        return ""
    named = f" {reason.detail}" if reason.detail else ""
    return f"{_NODES[reason.reason]}{named} on {_counted(reason.nodes, 'node')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
