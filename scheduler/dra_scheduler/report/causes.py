"""Why one request does not fit, in words: the reasons that its devices fell out for."""

from __future__ import annotations

from dra_allocator.rejection import ClaimRejection, NearestMiss, Reason, ReasonCount, RequestRejection
from dra_scheduler.report.facts import fact_text
from dra_scheduler.report.phrases import counted, listed, some_of
from dra_scheduler.report.viewer import Viewer

# "5 ..."
_DEVICES: dict[Reason, str] = {
    "class-selector": "are not of the class",
    "claim-selector": "do not match",
    "selector-error": "make the selector fail",
    "not-evaluated": "were left out because the selector is costly",
    "unsupported-device": "cannot be used",
    "tainted": "are tainted",
    "in-use": "are in use",
    "counters": "find their shared counters used up",
    "capacity": "have too little capacity left",
    "compatibility-groups": "do not go with what is in use beside them",
    "node-features": "need a feature that their node lacks",
    "incomplete-pool": "are in a pool that is not complete",
    "invalid-pool": "are in an invalid pool",
    "constraint": "do not meet a constraint",
    "no-class": "have no class",
    "no-device-visible": "cannot be reached",
    "too-few": "are too few",
    "too-many": "are too many",
}
OF_POOLS: frozenset[Reason] = frozenset(("incomplete-pool", "invalid-pool"))
"""Reasons before the class is asked."""
_SAID_ELSEWHERE: frozenset[Reason] = frozenset(("too-few", "no-device-visible", "no-class"))


def cause(request: RequestRejection, claim: ClaimRejection, viewer: Viewer) -> str:
    """Return why a request does not fit, what is most of it first."""
    told = {reason.reason for reason in request.reasons}
    if "no-device-visible" in told:
        return "no driver publishes a device for these nodes (see kubectl get resourceslices)"
    if "too-many" in told:
        return f"it wants {request.wanted:,} devices, and a claim may have 32"
    reasons = relevant(request)
    parts = []
    if request.of_class:
        parts = [_of_class(request, reasons, claim, viewer)]
    parts += [reason_text(one, claim, viewer, "device") for one in reasons if one.reason in OF_POOLS]
    if not request.of_class:
        others = [one for one in reasons if one.reason not in OF_POOLS]
        parts += [_no_class_device(one, request, claim, viewer) for one in others]
    return "; ".join(part for part in parts if part)


def relevant(request: RequestRejection) -> list[ReasonCount]:
    """Return the reasons that say something: devices of other classes do not, where there are some of this one."""
    dull = {*_SAID_ELSEWHERE} | ({"class-selector"} if request.of_class else set())
    return [one for one in request.reasons if one.reason not in dull and one.devices]


def needs(request: RequestRejection) -> str:
    """Return what is wanted, and which node came closest to it; nothing for a single device."""
    amount = f"all {request.wanted:,} devices" if request.is_all else counted(request.wanted, "device")
    near = request.nearest
    if near is None or (request.wanted == 1 and not request.is_all):
        return ""
    if not near.available:
        return f"{amount} are wanted on one node, and no node has one"
    return f"{amount} are wanted on one node, and {near.node} comes closest with {near.available:,}"


def lost_text(near: NearestMiss) -> str:
    """Return what became of the other devices of the nearest node."""
    return listed([f"{count:,} {_verb(reason, count)}" for reason, count in near.lost.items() if count])


def _of_class(request: RequestRejection, reasons: list[ReasonCount], claim: ClaimRejection, viewer: Viewer) -> str:
    """`all 8 devices of class gpu are in use by ...`, or `of 8 devices of class gpu, 5 are ..., 3 are ...`."""
    those = f"{counted(request.of_class, 'device')} of class {request.device_class}"
    inner = [one for one in reasons if one.reason not in OF_POOLS]
    if len(inner) == 1 and inner[0].devices == request.of_class:
        text = reason_text(inner[0], claim, viewer)
        all_of = f"all {those}" if request.of_class > 1 else f"the only device of class {request.device_class}"
        return f"{all_of} {text.partition(' ')[2]}"
    texts = [reason_text(one, claim, viewer) for one in inner]
    if request.candidates:
        texts.append(f"{request.candidates:,} {'is' if request.candidates == 1 else 'are'} free")
    return f"of {those}, {listed(texts) if len(texts) < 3 else '; '.join(texts)}"


def _no_class_device(one: ReasonCount, request: RequestRejection, claim: ClaimRejection, viewer: Viewer) -> str:
    if one.reason != "class-selector":
        return reason_text(one, claim, viewer, "device")
    facts = "; ".join(fact_text(fact) for fact in one.facts[:1])
    return f"no device is of class {request.device_class}: {facts}" if facts else reason_text(one, claim, viewer)


def reason_text(one: ReasonCount, claim: ClaimRejection, viewer: Viewer, noun: str = "") -> str:
    """Return one reason with its facts: `5 are tainted (key=value:NoSchedule)`."""
    amount = counted(one.devices, noun) if noun else f"{one.devices:,}"
    said = f"{amount} {_verb(one.reason, one.devices)}"
    if one.reason == "in-use":
        return f"{said}{holders_text(claim, viewer)}"
    if not one.facts:
        return f"{said} ({one.detail})" if one.detail and one.reason == "unsupported-device" else said
    facts = [fact_text(fact) for fact in one.facts]
    if one.reason == "tainted":
        return f"{said} ({some_of(facts)}), which the claim does not tolerate"
    if one.reason in OF_POOLS:
        return f"{said}: {some_of(facts, 2, max(len(facts), _pools(one)))}"
    return f"{said}: {facts[0]}"


def _pools(one: ReasonCount) -> int:
    return len(one.facts)


def holders_text(claim: ClaimRejection, viewer: Viewer) -> str:
    """Return ` by claim a, b and 3 claims of other namespaces`."""
    named, others = viewer.names(claim.in_use_by)
    parts = [f"{'claim' if len(named) == 1 else 'claims'} {some_of(named)}"] if named else []
    if others:
        where = " of other namespaces" if viewer.namespace is not None else ""
        parts.append(f"{counted(others, 'claim')}{where}")
    if claim.more_in_use:
        parts.append("others")
    return f" by {listed(parts)}" if parts else ""


def _verb(reason: Reason, count: int) -> str:
    """`are in use`, for one device `is in use`."""
    text = _DEVICES[reason]
    if count != 1:
        return text
    first, _, rest = text.partition(" ")
    single = {
        "are": "is",
        "do": "does",
        "have": "has",
        "find": "finds",
        "need": "needs",
        "make": "makes",
        "were": "was",
    }
    return f"{single[first]} {rest}".replace("their", "its") if first in single else text
