"""Kubernetes' tables about pods and their claims, answered by what the scheduler uses for the same questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_allocator.ledger import Ledger
from dra_embedded.claims.names import claims_of
from dra_scheduler.cache.claim_store import Claim, ClaimStore
from dra_scheduler.cache.pod_group import PodGroup, pod_group
from dra_scheduler.cache.pod_info import PodInfo, pod_info
from dra_scheduler.cycle.pod_claims import is_reserved_for, resolve
from dra_scheduler.writes.comparison import is_same

Fields = Mapping[str, Any]
Answer = tuple[Any, Any]
"""What is expected and what we say."""

_ANOTHER_NAMESPACE = "a claim is looked for in the namespace of its pod only"
_ANOTHER_GROUP = "the PodGroup is looked up by the name in the pod, so it is the pod's"


def cannot_occur(test: str, fields: Fields) -> str | None:
    """Why the question of a row cannot come up here, if it cannot."""
    pod = fields.get("pod", {})
    if test == "TestPodClaims" and pod is None:
        return "there is always a pod"
    if test.startswith("TestResourceClaimIsFor/") and _namespace(pod) != _namespace(fields.get("claim", {})):
        return _ANOTHER_NAMESPACE
    group = fields.get("podGroup")
    if test == "TestBindTo" and group and (_namespace(group), _name_in(group)) != (_namespace(pod), _group_of(pod)):
        return _ANOTHER_GROUP
    return None


def _namespace(obj: Any) -> str:
    return str((obj.get("metadata") or {}).get("namespace") or "")


def _name_in(obj: Any) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")


def _group_of(pod: Any) -> str:
    return str(((pod.get("spec") or {}).get("schedulingGroup") or {}).get("podGroupName") or "")


def _pod(raw: Mapping[str, Any], *claims: Mapping[str, Any], **status: Any) -> PodInfo:
    meta = {"namespace": "default", "name": "pod", "uid": "uid", "resourceVersion": "1"} | dict(raw["metadata"])
    spec = {**raw["spec"], "containers": []} | ({"resourceClaims": list(claims)} if claims else {})
    return pod_info({"metadata": meta, "spec": spec, "status": {**(raw.get("status") or {}), **status}})


def _group(raw: Mapping[str, Any], *claims: Mapping[str, Any]) -> PodGroup:
    meta = {"uid": "uid"} | dict(raw["metadata"])
    spec = {**raw["spec"]} | ({"resourceClaims": list(claims)} if claims else {})
    return pod_group({**raw, "metadata": meta, "spec": spec})


def _store(raw: Mapping[str, Any], *, groups: bool) -> tuple[ClaimStore, Claim]:
    store = ClaimStore(Ledger())
    store.group_owners = groups
    change = store.observe({**raw, "metadata": {"resourceVersion": "1"} | dict(raw["metadata"])})
    assert change is not None
    return store, change.claim


def _is_reserved(fields: Fields) -> Answer:
    _, claim = _store(fields["claim"], groups=True)
    pod = _pod(fields["pod"])
    reserved = is_reserved_for(claim, pod) if fields["acceptPodGroup"] else pod.uid in claim.reserved_for
    return fields["expectedResult"], reserved


def _is_for_pod(fields: Fields) -> Answer:
    store, claim = _store(fields["claim"], groups=fields["acceptPodGroup"])
    entry = {"name": "c", "resourceClaimTemplateName": "t"}
    pod = _pod(fields["pod"], entry, resourceClaimStatuses=[{"name": "c", "resourceClaimName": claim.name}])
    found = resolve(pod, store)
    return fields["expectedError"], found if isinstance(found, str) else ""


def _is_for_group(fields: Fields) -> Answer:
    _, claim = _store(fields["claim"], groups=True)
    group = _group(fields["pod"])
    return not fields["expectedError"], claim.owner_group == group.name


def _name(fields: Fields) -> Answer:
    (entry,) = _pod(fields["pod"], fields["podClaim"]).claims
    error = (fields["expectedError"] or {}).get("error", "")
    expected = (fields["expectedName"], fields["expectedCheck"] if not error else entry.from_template, error)
    return expected, (entry.claim_name, entry.from_template, entry.problem)


def _name_of_group(fields: Fields) -> Answer:
    names = _group(fields["podGroup"], fields["podGroupClaim"]).claim_names
    return [fields["expectedName"]] if fields["expectedName"] else [], list(names)


def _claims_of(fields: Fields) -> Answer:
    return [entry["name"] for entry in fields["expected"]], claims_of(fields["pod"])


def _reserved_for_whom(fields: Fields) -> Answer:
    pod = _pod(fields["pod"], fields["podClaim"])
    (entry,) = pod.claims
    if fields["expectedError"]:
        return True, "none of the supported fields are set" in entry.problem
    group = None if fields["podGroup"] is None else _group(fields["podGroup"])
    ours = group is not None and group.key == (pod.namespace, pod.group) and group.owns(entry)
    return fields["expected"]["resource"], "podgroups" if ours else "pods"


def _equal(fields: Fields, one: Any, other: Any) -> Answer:
    # What an answer has beyond what was sent does not matter to us: so neither may have more than the other.
    return fields["expectEqual"], is_same(one, other) and is_same(other, one)


CLAIM_ROWS: Mapping[str, Callable[[Fields], Answer]] = {
    "TestBindTo": _reserved_for_whom,
    "TestIsReservedForPod": _is_reserved,
    "TestName": _name,
    "TestNameFromPodGroup": _name_of_group,
    "TestPodClaims": _claims_of,
    "TestPodExtendedStatusEqual": lambda fields: _equal(fields, fields["statusA"], fields["statusB"]),
    "TestPodStatusEqual": lambda fields: _equal(fields, fields["sliceA"], fields["sliceB"]),
    "TestResourceClaimIsFor/Pod": _is_for_pod,
    "TestResourceClaimIsFor/PodGroup": _is_for_group,
}
"""Kubernetes' test to how we answer it."""
