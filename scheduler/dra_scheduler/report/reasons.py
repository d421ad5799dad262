"""One reason for which devices fell out, in words."""

from __future__ import annotations

from dra_allocator.rejection import NearestMiss, Reason, ReasonCount, RequestRejection
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
    "several-rules": "do not meet several rules together",
}
_NAMED = 3
_SINGLE = {"are": "is", "do": "does", "have": "has", "find": "finds", "need": "needs", "make": "makes", "were": "was"}
OF_POOLS: frozenset[Reason] = frozenset(("incomplete-pool", "invalid-pool"))
"""Reasons that are looked at before the class."""
_IN_BRACKETS: frozenset[Reason] = frozenset(("claim-selector", "selector-error", "class-selector", "capacity"))


def reason_text(one: ReasonCount, request: RequestRejection, viewer: Viewer, noun: str = "") -> str:
    """Return one reason with its facts: `5 are tainted (key=value:NoSchedule)`; `noun` is put after the number."""
    amount = counted(one.devices, noun) if noun else f"{one.devices:,}"
    said = f"{amount} {verb(one.reason, one.devices)}"
    if one.reason == "in-use":
        return f"{said}{_holders(request, viewer)}"
    if not one.facts:
        return f"{said} ({one.detail})" if one.detail and one.reason == "unsupported-device" else said
    facts = [fact_text(fact) for fact in one.facts]
    if one.reason == "tainted":
        return f"{said} and the claim does not tolerate that ({some_of(facts)})"
    if one.reason in OF_POOLS:
        return f"{said}: {some_of(facts, 2)}"
    return f"{said} ({facts[0]})" if one.reason in _IN_BRACKETS else f"{said}: {facts[0]}"


def lost_text(near: NearestMiss) -> str:
    """Return what became of the other devices of the nearest node."""
    return listed([f"{count:,} {verb(reason, count)}" for reason, count in near.lost.items() if count])


def verb(reason: Reason, count: int) -> str:
    """`are in use`, for one device `is in use`."""
    text = _DEVICES[reason]
    first, _, rest = text.partition(" ")
    return f"{_SINGLE[first]} {rest}".replace("their", "its") if count == 1 and first in _SINGLE else text


def _holders(request: RequestRejection, viewer: Viewer) -> str:
    """Return ` by claims a, b and 3 claims of other namespaces`."""
    named, others = viewer.names(request.in_use_by)
    where = " of other namespaces" if viewer.namespace is not None else ""
    if not named:
        more = f"{counted(others, 'claim')}{where}" if others else ""
        return f" by {more}{' and more' if request.more_in_use else ''}" if more else ""
    parts = named[:_NAMED]
    if len(named) > _NAMED:
        parts.append(f"{len(named) - _NAMED:,} more")
    if others:
        parts.append(f"{others:,}{where}" if where else f"{others:,} unknown")
    if request.more_in_use:
        parts.append("others")
    return f" by {'claim' if len(parts) == 1 else 'claims'} {listed(parts)}"
