"""Sentences about a pod's claims as a whole: rules, objects that are missing, nodes that were ruled out before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_allocator.rejection import Explanation, Together
from dra_scheduler.report.facts import fact_text
from dra_scheduler.report.phrases import counted, listed, some_of, tallied
from dra_scheduler.report.viewer import Viewer


def together_text(one: Together, viewer: Viewer) -> str:
    """Return which rule about the choice as a whole is in the way."""
    facts = "; ".join(fact_text(fact) for fact in one.facts)
    who = f"claim {viewer.claim(one.claim)}: " if one.claim else ""
    on = f"on {one.node}, which has the most devices, " if one.looked_at > 1 else f"on {one.node} "
    match one.reason:
        case "constraint":
            return f"{who}{on}{facts or f'no choice meets the constraint on {one.detail}'}"
        case "counters":
            return f"{on}{facts or 'the shared counters do not suffice'}"
        case "capacity":
            return f"{on}{facts or 'the capacity does not suffice'}"
        case "compatibility-groups":
            return f"{on}no choice of devices goes together, by their compatibility groups"
        case "node-features":
            return f"{on}the devices skip node operations, which the node does not declare (DRAOptionalNodeOperations)"
    return f"{on}the requests {listed(one.requests)} want the same devices: {facts}"


def missing_text(explanation: Explanation) -> Iterator[str]:
    """Yield which objects do not exist, and which were probably meant."""
    for one in explanation.missing:
        where = f"claim {one.claim}, request {one.request}: " if one.claim else ""
        if one.suggestion:
            hint = f", did you mean {one.suggestion}?"
        else:
            hint = f"; there are {some_of(one.others)}" if one.others else ""
        yield f"{where}{one.kind} {one.name} does not exist{hint}"


def pinned_text(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    """Yield which allocated claims tie the pod to nodes where it cannot go."""
    for one in explanation.pinned:
        devices: Sequence[str] = [str(device) for device in one.devices]
        where = some_of(one.nodes, total=one.count) if one.count else "no node that is there"
        why = f", which is ruled out: {tallied(one.why)}" if one.why else ""
        yield f"claim {viewer.claim(one.claim)} has {some_of(devices)}, usable on {where} only{why}"


def elsewhere_text(explanation: Explanation) -> Iterator[str]:
    """Yield how many nodes have the devices and are ruled out by something else."""
    found = explanation.elsewhere
    if found is None:
        return
    nodes = f"{counted(found.nodes, 'node')} with enough free devices ({some_of(found.names, total=found.nodes)})"
    verb = "is" if found.nodes == 1 else "are"
    why = f": {tallied(found.why)}" if found.why else ""
    yield f"{nodes} {verb} ruled out by something else{why}"
