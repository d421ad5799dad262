"""Sentences about a pod's claims as a whole: rules, objects that are missing, nodes that were ruled out before."""

from __future__ import annotations

from collections.abc import Iterator

from dra_allocator.rejection import Explanation, Missing, Together
from dra_scheduler.report.facts import fact_text
from dra_scheduler.report.phrases import counted, listed, some_of, tallied
from dra_scheduler.report.viewer import Viewer


def together_text(one: Together, explanation: Explanation, viewer: Viewer) -> str:
    """Return which rule about the choice as a whole is in the way, and the node with most devices left."""
    facts = "; ".join(fact_text(fact) for fact in one.facts)
    names = [one.claim] if one.claim else [claim.claim for claim in explanation.claims]
    who = f"claim{'s' if len(names) > 1 else ''} {some_of([viewer.claim(name) for name in names])}: "
    said = f"{who}{_rule(one, facts)}"
    most = ", which has most devices left" if one.looked_at > 1 else ""
    return said if said.endswith("?") else f"{said} (on {one.node}{most})"


def _rule(one: Together, facts: str) -> str:
    match one.reason:
        case "constraint":
            return facts or f"no choice of devices meets the constraint on {one.detail}"
        case "counters":
            return facts or "the shared counters do not suffice"
        case "capacity":
            return facts or "the capacity does not suffice"
        case "compatibility-groups":
            return "no choice of devices goes together, by their compatibility groups"
        case "node-features":
            return "the devices skip node operations, which the node does not declare (DRAOptionalNodeOperations)"
        case "several-rules":
            return f"no choice of devices meets all rules together: {one.detail}"
    return f"requests {listed(one.requests)} are for the same devices: {facts}"


def missing_text(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    """Yield which objects do not exist, and which were probably meant."""
    for one in explanation.missing:
        yield _template(one) if one.template else _missing(one, viewer)


def _template(one: Missing) -> str:
    what = (
        f"the ResourceClaim that the pod calls {one.name} has not been made from ResourceClaimTemplate {one.template}"
    )
    return f"{what} yet: does that exist (kubectl get resourceclaimtemplates), and does kube-controller-manager run?"


def _missing(one: Missing, viewer: Viewer) -> str:
    where = f"claim {viewer.claim(one.claim)}, request {one.request}: " if one.claim else ""
    hint = ""
    if one.suggestion:
        hint = f", did you mean {one.suggestion}?"
    elif one.others:
        hint = f"; there {'are' if len(one.others) > 1 else 'is'} {some_of(one.others)}"
    return f"{where}{one.kind} {one.name} does not exist{hint}"


def pinned_text(explanation: Explanation, viewer: Viewer) -> Iterator[str]:
    """Yield which allocated claims tie the pod to nodes."""
    for one in explanation.pinned:
        devices = some_of([str(device) for device in one.devices])
        where = f"on {some_of(one.nodes, total=one.count)} only" if one.count else "on no node that is there"
        said = f"claim {viewer.claim(one.claim)} has been allocated {devices}, to be used {where}"
        yield f"{said}, and the pod cannot go there: {tallied(one.why)}" if one.why else said


def elsewhere_text(explanation: Explanation) -> Iterator[str]:
    """Yield how many nodes have the devices and are ruled out by something else."""
    found = explanation.elsewhere
    if found is None:
        return
    some = found.nodes == 1
    who = f"{some_of(found.names, total=found.nodes)} {'has' if some else 'have'} enough free devices"
    why = listed(list(found.why)) if found.nodes > len(found.names) else tallied(found.why, found.who)
    yield f"{who}, but {'is' if some else 'are'} ruled out{f': {why}' if why else ''}"


def nowhere_together_text(explanation: Explanation, viewer: Viewer) -> str:
    """Each request alone has nodes, but there is no node for all."""
    several = len(explanation.claims) > 1
    each = [
        f"request {request.request}{f' of claim {viewer.claim(claim.claim)}' if several else ''} "
        f"on {counted(request.nodes_enough, 'node')}"
        for claim in explanation.claims
        for request in claim.requests
        if request.nodes_enough < explanation.nodes
    ]
    who = "" if several else f"claim {viewer.claim(explanation.claims[0].claim)}: "
    near = f"; {explanation.nearest} comes closest" if explanation.nearest else ""
    return f"{who}no node has enough for all requests, there is enough for {listed(each)}{near}"
