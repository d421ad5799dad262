"""What the model's picks look like in a claim's status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_bench.oracle.model.bugs import Bug
from dra_bench.oracle.model.picks import Pick
from dra_bench.oracle.model.pools import AttemptFailedError

JSON = dict[str, Any]
SHARE_ID = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"


def claim_result(claim: JSON, picks: Sequence[Pick], cluster: JSON, bugs: frozenset[Bug]) -> JSON:
    """Return the AllocationResult of one claim; amounts are fractions."""
    chosen: dict[int, Pick] = {}
    for pick in picks:
        chosen.setdefault(pick.alternative.request, pick)
    devices = [_device(pick, cluster["features"], bugs) for pick in picks]
    config = _config(claim, [chosen[index] for index in sorted(chosen)])
    return {"devices": {"results": devices, "config": config}, "nodeSelector": _node_selector(picks, cluster, bugs)}


def _device(pick: Pick, features: JSON, bugs: frozenset[Bug]) -> JSON:
    driver, pool, name = pick.candidate.key
    device, one = pick.candidate.device, pick.alternative
    made: JSON = {"request": one.names[1], "driver": driver, "pool": pool, "device": name}
    made["adminAccess"] = True if one.admin else None
    made["tolerations"] = one.body.get("tolerations")
    made["skipNodeOperations"] = pick.candidate.spec.get("skipNodeOperations")
    if features["DeviceBindingAndStatus"]:
        made["bindingConditions"] = device.get("bindingConditions")
        made["bindingFailureConditions"] = device.get("bindingFailureConditions")
    if pick.taken is not None:
        made["shareID"] = SHARE_ID
        made["consumedCapacity"] = {} if one.admin and Bug.ADMIN_ACCESS not in bugs else dict(pick.taken)
    return made


def _config(claim: JSON, chosen: Sequence[Pick]) -> list[JSON]:
    entries: list[JSON] = []
    for name in dict.fromkeys(pick.alternative.body["deviceClassName"] for pick in chosen):
        same = [pick.alternative for pick in chosen if pick.alternative.body["deviceClassName"] == name]
        config = same[0].device_class["spec"].get("config", ())
        entries += [{"source": "FromClass", "requests": [one.names[1] for one in same], **one} for one in config]
    for one in claim["spec"]["devices"].get("config", ()):
        requests = one.get("requests", [])
        if not requests or any({*pick.alternative.names} & {*requests} for pick in chosen):
            entries.append({"source": "FromClaim", **one})
    for entry in entries:
        if all({*pick.alternative.names} & {*entry.get("requests", ())} for pick in chosen):
            entry["requests"] = []
    return entries


def _node_selector(picks: Sequence[Pick], cluster: JSON, bugs: frozenset[Bug]) -> JSON | None:
    term: JSON = {"matchExpressions": [], "matchFields": []}
    for pick in picks:
        spec, device = pick.candidate.spec, pick.candidate.device
        scope = device if spec.get("perDeviceNodeSelection") else spec
        if scope.get("nodeName") or device.get("bindsToNode"):
            only = {"key": "metadata.name", "operator": "In", "values": [cluster["node"]["metadata"]["name"]]}
            return {"nodeSelectorTerms": [{"matchFields": [only]}]}
        terms = (scope.get("nodeSelector") or {}).get("nodeSelectorTerms", ())
        if len(terms) > 1 and Bug.DEVICE_NODE_SELECTOR in bugs:
            raise AttemptFailedError("a node selector with two terms")
        for one in terms:
            for kind in term:
                term[kind] += [entry for entry in one.get(kind, ()) if entry not in term[kind]]
    return {"nodeSelectorTerms": [term]} if any(term.values()) else None
