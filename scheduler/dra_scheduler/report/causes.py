"""Why one request does not fit, in words: the reasons that its devices fell out for."""

from __future__ import annotations

from dra_allocator.rejection import Reason, ReasonCount, RequestRejection
from dra_scheduler.report.facts import fact_text
from dra_scheduler.report.phrases import counted, listed, sentences
from dra_scheduler.report.reasons import OF_POOLS, reason_text
from dra_scheduler.report.viewer import Viewer

UNFIT: frozenset[Reason] = frozenset(("class-selector", "claim-selector", "selector-error", "unsupported-device"))
"""Reasons for which a device will never do; the others pass, so they are told first."""
_SAID_ELSEWHERE: frozenset[Reason] = frozenset(("too-few", "no-device-visible", "no-class"))


def cause(request: RequestRejection, viewer: Viewer) -> str:
    """Return why a request does not fit, what may pass first."""
    told = {reason.reason for reason in request.reasons}
    if "no-device-visible" in told:
        return "no driver publishes a device for these nodes (see kubectl get resourceslices)"
    if "too-many" in told:
        return f"it wants {request.wanted:,} devices, and a claim may have 32"
    if 0 < request.most_of_class < request.wanted:
        most = f"{request.most_of_class:,} of class {request.device_class}"
        return f"{counted(request.wanted, 'device')} are wanted on one node, and no node has more than {most}"
    reasons = _relevant(request)
    inner = [one for one in reasons if one.reason not in OF_POOLS]
    parts = [_needs(request)]
    if request.of_class:
        parts.append(_of_class(request, inner, viewer))
    parts += [reason_text(one, request, viewer, "device") for one in reasons if one.reason in OF_POOLS]
    if not request.of_class:
        parts += [_no_class_device(one, request, viewer) for one in inner]
    return sentences([part for part in parts if part])


def _relevant(request: RequestRejection) -> list[ReasonCount]:
    """Return the reasons that say something: devices of other classes do not, where there are some of this one."""
    dull = {*_SAID_ELSEWHERE} | ({"class-selector"} if request.of_class else set())
    told = [one for one in request.reasons if one.reason not in dull and one.devices]
    return sorted(told, key=lambda one: one.reason in UNFIT)


def _needs(request: RequestRejection) -> str:
    """Return what is wanted, and which node came closest to it; nothing for a single device."""
    near = request.nearest
    if near is None or (request.wanted == 1 and not request.is_all):
        return ""
    amount = wanted_text(request)
    closest = f"{near.node} comes closest with {near.available:,}" if near.available else "no node has one left"
    return f"{amount} are wanted on one node, and {closest}"


def wanted_text(request: RequestRejection) -> str:
    """Return how many devices are wanted; in mode All the number is known only where there are some."""
    if not request.is_all:
        return counted(request.wanted, "device")
    return f"all {request.wanted:,} devices" if request.wanted > 1 else "all devices"


def _of_class(request: RequestRejection, inner: list[ReasonCount], viewer: Viewer) -> str:
    """`all 8 devices of class gpu are in use by ...`, or `of 8 devices of class gpu, 5 are ..., 3 are ...`."""
    if len(inner) == 1 and inner[0].devices == request.of_class:
        return _all_of_class(request, inner[0], viewer)
    texts = [reason_text(one, request, viewer) for one in inner]
    if not texts:
        return ""
    if request.candidates:
        texts.append(f"{request.candidates:,} {'is' if request.candidates == 1 else 'are'} free")
    those = f"{counted(request.of_class, 'device')} of class {request.device_class}"
    return f"of {those}, {listed(texts)}"


def _all_of_class(request: RequestRejection, one: ReasonCount, viewer: Viewer) -> str:
    """All devices of the class fell out for one reason."""
    several = request.of_class > 1
    only = f"the only device of class {request.device_class}"
    whole = f"the {request.of_class:,} devices of class {request.device_class}" if several else only
    facts = f": {fact_text(one.facts[0])}" if one.facts else ""
    if one.reason == "claim-selector":
        return f"none of {whole} matches{facts}" if several else f"{whole} does not match{facts}"
    if one.reason == "selector-error":
        return f"the selector fails on {'all of ' if several else ''}{whole}{facts}"
    text = reason_text(one, request, viewer).partition(" ")[2]
    return f"all {whole.removeprefix('the ')} {text}" if several else f"{whole} {text}"


def _no_class_device(one: ReasonCount, request: RequestRejection, viewer: Viewer) -> str:
    if one.reason != "class-selector":
        return reason_text(one, request, viewer, "device")
    facts = f": {fact_text(one.facts[0])}" if one.facts else ""
    some = f"none of {counted(one.devices, 'device')}" if one.devices > 1 else "no device"
    return f"{some} is of class {request.device_class}{facts}"
