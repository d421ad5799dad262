"""Pods and what they name: claims, templates, requests; containers that use what is not there."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator

from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.sources import ClaimSource, PodSource, Raw

_MEMBERS = {"resourceClaimName": "ResourceClaim", "resourceClaimTemplateName": "ResourceClaimTemplate"}


def _missing(kind: str) -> Callable[[Inputs], Iterator[Fault]]:
    field = next(name for name, target in _MEMBERS.items() if target == kind)

    def check(inputs: Inputs) -> Iterator[Fault]:
        for pod in inputs.claimants:
            if inputs.is_stored(pod.document) and pod.spec.get("nodeName"):
                continue  # it was there when the pod was bound, and may go before the pod does
            for path, entry in pod.claims():
                name = entry.get(field)
                if isinstance(name, str) and name and inputs.is_missing(kind, pod.namespace, name):
                    problem = f"there is no {kind} {name!r} in namespace {pod.namespace}"
                    yield Fault(pod.document, f"{path}.{field}", problem, _elsewhere(inputs, kind, pod, name))

    return check


def _elsewhere(inputs: Inputs, kind: str, pod: PodSource, name: str) -> str:
    """Return a hint: the same name in another namespace, or under the other kind, or a name that looks alike."""
    sources = inputs.claims
    for one in sources:
        if one.claim.name == name and one.document.object["kind"] == kind:
            return f"there is one in namespace {one.claim.namespace}; claims are not shared across namespaces"
        if one.claim.name == name and one.claim.namespace == pod.namespace:
            field = next(f for f, target in _MEMBERS.items() if target == one.document.object["kind"])
            return f"there is a {one.document.object['kind']} of that name: write {field}"
    here = [s.claim.name for s in sources if s.claim.namespace == pod.namespace and s.document.object["kind"] == kind]
    return _did_you_mean(name, here)


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    known = sorted(set(known))
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"there are: {', '.join(known)}" if known else ""


def _entry_invalid(inputs: Inputs) -> Iterator[Fault]:
    for pod in inputs.claimants:
        names: set[object] = set()
        for path, entry in pod.claims():
            chosen = [name for name in _MEMBERS if entry.get(name)]
            if entry.get("source") is not None:
                continue  # a rule of its own
            if len(chosen) != 1:
                problem = "names both a claim and a template" if chosen else "names neither a claim nor a template"
                hint = "set exactly one of resourceClaimName and resourceClaimTemplateName"
                yield Fault(pod.document, path, problem, hint)
            name = entry.get("name")
            if isinstance(name, str) and name in names:
                yield Fault(pod.document, f"{path}.name", f"{name!r} is there twice", "names are unique")
            names.add(name if isinstance(name, str) else None)


def _old_source(inputs: Inputs) -> Iterator[Fault]:
    for pod in inputs.pods:
        for path, entry in pod.claims():
            if entry.get("source") is not None:
                hint = "write resourceClaimName or resourceClaimTemplateName directly in the entry"
                yield Fault(pod.document, f"{path}.source", "is of Kubernetes 1.30 and older", hint)


def _uses(pod: PodSource) -> Iterator[tuple[str, Raw]]:
    """Yield path and entry of each use of a claim by a container."""
    for path, container in pod.containers():
        resources = container.get("resources")
        claims = resources.get("claims") if isinstance(resources, dict) else None
        for i, use in enumerate(claims if isinstance(claims, list) else ()):
            if isinstance(use, dict):
                yield f"{path}.resources.claims[{i}]", use


def _unused(inputs: Inputs) -> Iterator[Fault]:
    for pod in inputs.pods:
        used = {use.get("name") for _, use in _uses(pod) if isinstance(use.get("name"), str)}
        for path, entry in pod.claims():
            name = entry.get("name")
            if isinstance(name, str) and name not in used:
                problem = f"no container uses the claim {name!r}: devices are allocated, and no container gets them"
                hint = f"add resources.claims: [{{name: {name}}}] to the container that needs it"
                yield Fault(pod.document, path, problem, hint)


def _unknown_claim(inputs: Inputs) -> Iterator[Fault]:
    for pod in inputs.pods:
        names = [entry["name"] for _, entry in pod.claims() if isinstance(entry.get("name"), str)]
        for path, use in _uses(pod):
            if isinstance(use.get("name"), str) and use["name"] not in names:
                problem = f"the pod has no claim {use['name']!r} in resourceClaims"
                yield Fault(pod.document, f"{path}.name", problem, _did_you_mean(use["name"], names))


def _unknown_request(inputs: Inputs) -> Iterator[Fault]:
    for pod in inputs.pods:
        entries = {entry["name"]: entry for _, entry in pod.claims() if isinstance(entry.get("name"), str)}
        for path, use in _uses(pod):
            request, name = use.get("request"), use.get("name")
            source = _claim_of(inputs, pod, entries.get(name)) if isinstance(name, str) else None
            if source is None or not isinstance(request, str) or not request:
                continue
            names = [one.name for one in source.claim.requests]
            if request not in names:
                problem = f"{source.document.key} has no request {request!r}"
                main = request.partition("/")[0]
                hint = f"name the request itself: {main}" if main in names else _did_you_mean(request, names)
                yield Fault(pod.document, f"{path}.request", problem, hint)


def _claim_of(inputs: Inputs, pod: PodSource, entry: Raw | None) -> ClaimSource | None:
    for field, kind in _MEMBERS.items():
        name = None if entry is None else entry.get(field)
        if isinstance(name, str):
            return inputs.claim_of(inputs.find(kind, pod.namespace, name))
    return None


RULES = (
    Rule("pod-claim-source", "error", "a pod names its claim under source", _old_source),
    Rule("claim-missing", "error", "a pod names a ResourceClaim that is not there", _missing("ResourceClaim")),
    Rule(
        "template-missing",
        "error",
        "a pod names a ResourceClaimTemplate that is not there",
        _missing("ResourceClaimTemplate"),
    ),
    Rule(
        "pod-claim-invalid",
        "error",
        "an entry of resourceClaims names no claim, two, or is there twice",
        _entry_invalid,
    ),
    Rule("pod-claim-unused", "warning", "no container uses a claim of its pod", _unused),
    Rule("container-claim-unknown", "error", "a container uses a claim that its pod does not have", _unknown_claim),
    Rule("container-request-unknown", "error", "a container uses a request that the claim lacks", _unknown_request),
)
