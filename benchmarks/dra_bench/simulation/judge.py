"""What must hold once a simulated cluster has come to rest. Each function yields what does not, as text.

Whether a waiting pod fits is asked of the plain model of an allocator (`dra_bench.oracle.model`), which has no code in
common with the scheduler.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dra_bench.oracle.model.amounts import amount
from dra_bench.oracle.model.attempt import attempt
from dra_bench.oracle.model.pools import node_matches
from dra_bench.simulation import objects
from dra_bench.simulation.state import (
    DeviceKey,
    Hold,
    State,
    allocation,
    ended,
    extended,
    group_of,
    reserved_for,
    reserved_groups,
)

JSON = dict[str, Any]
_FEATURES = {
    "AdminAccess": True,
    "CompatibilityGroups": False,
    "ConsumableCapacity": True,
    "DerivedAttributes": False,
    "DeviceBindingAndStatus": True,
    "DeviceTaints": True,
    "FractionalCapacityRange": False,
    "ListTypeAttributes": False,
    "OptionalNodeOperations": False,
    "PartitionableDevices": True,
    "PrioritizedList": True,
}
_SPECIAL = "resource.kubernetes.io/extended-resource-claim"
_DRIVER_TEST = 'device.driver == "'


def violations(state: State) -> Iterator[str]:
    """Everything that is wrong with a cluster at rest."""
    yield from unsafe(state)
    yield from waiting(state)


def unsafe(state: State) -> Iterator[str]:
    """What is wrong whoever waits for what."""
    yield from devices_beyond_limits(state)
    yield from nodes_beyond_limits(state)
    yield from users(state)
    yield from leaks(state)


def devices_beyond_limits(state: State) -> Iterator[str]:
    """No device for itself twice, no capacity and no counter beyond what there is."""
    holders: dict[DeviceKey, list[Hold]] = defaultdict(list)
    for hold in state.holds():
        if not hold.watching:
            holders[hold.key].append(hold)
    published = state.published()
    for key, holds in holders.items():
        names = [hold.claim for hold in holds]
        if len(holds) > 1 and not all(hold.shared for hold in holds):
            yield f"device {'/'.join(key)} is held by {', '.join(names)}"
        for name, capacity in published.get(key, {}).get("capacity", {}).items():
            taken = sum(amount(hold.result.get("consumedCapacity", {}).get(name, 0)) for hold in holds)
            if taken > amount(capacity["value"]):
                yield f"device {'/'.join(key)}: {taken} of {capacity['value']} {name} is taken by {', '.join(names)}"
    yield from _counters(state, {key: published[key] for key in holders if key in published})


def _counters(state: State, held: dict[DeviceKey, JSON]) -> Iterator[str]:
    used: dict[tuple[str, str, str, str], Fraction] = defaultdict(Fraction)
    for (driver, pool, _), device in held.items():
        for consumption in device.get("consumesCounters", ()):
            for name, counter in consumption["counters"].items():
                used[driver, pool, consumption["counterSet"], name] += amount(counter["value"])
    for one in state.slices.values():
        spec = one["spec"]
        for counter_set in spec.get("sharedCounters") or ():
            for name, counter in counter_set["counters"].items():
                taken = used[spec["driver"], spec["pool"]["name"], counter_set["name"], name]
                if taken > amount(counter["value"]):
                    yield f"counter {name} of {counter_set['name']} in {spec['pool']['name']}: {taken} is taken"


def nodes_beyond_limits(state: State) -> Iterator[str]:
    """No node has pods that take more cpu than it has, what their devices take of it included."""
    for name, node in state.nodes.items():
        taken, has = _cpu_taken(state, name), amount(node["status"]["allocatable"]["cpu"])
        if taken > has:
            yield f"node {name}: {taken} of {has} cpu is taken"


def _cpu_taken(state: State, node: str) -> Fraction:
    return sum((_cpu(pod) for pod in state.pods.values() if pod["spec"].get("nodeName") == node), Fraction())


def _cpu(pod: JSON) -> Fraction:
    """What a pod takes, with what its status says that its devices take."""
    if ended(pod):
        return Fraction()
    asked = ((each.get("resources") or {}).get("requests") or {} for each in pod["spec"]["containers"])
    status = pod.get("status", {}) if pod["spec"].get("nodeName") else {}
    told = status.get("nodeAllocatableResourceClaimStatuses") or ()
    mapped = (entry for one in told for entry in one.get("mapping") or () if entry["name"] == "cpu")
    return sum((amount(one.get("cpu", 0)) for one in asked), Fraction()) + sum(
        (amount(entry["quantity"]) for entry in mapped), Fraction()
    )


def users(state: State) -> Iterator[str]:
    """Bound pods have claims that are allocated on their node and reserved for them; nobody else is in reservedFor."""
    on_nodes = [pod for pod in state.pods.values() if pod["spec"].get("nodeName") and not ended(pod)]
    bound = {pod["metadata"]["uid"] for pod in on_nodes}
    # A group keeps its reservation as long as it is there, once a pod of it was bound.
    using = bound | {group["metadata"]["uid"] for group in state.groups.values() if _was_scheduled(group)}
    for name, claim in state.claims.items():
        for uid in reserved_for(claim):
            if uid not in using:
                yield f"claim {name} is reserved for a pod, or group of pods, that is gone or has no node"
    for name, pod in state.pods.items():
        if pod["metadata"]["uid"] in bound:
            yield from _bound(state, name, pod)


def _bound(state: State, name: str, pod: JSON) -> Iterator[str]:
    node = state.nodes.get(pod["spec"]["nodeName"])
    for claim_name in state.claims_of(pod):
        claim = state.claims.get(claim_name or "")
        if claim is None:
            yield f"pod {name} has a node, but not its claim"
        elif pod["metadata"]["uid"] not in reserved_for(claim) and group_of(pod) not in reserved_groups(claim):
            yield f"pod {name} has a node, but claim {claim_name} is not reserved for it"
        elif not allocation(claim):
            yield f"pod {name} has a node, but claim {claim_name} has no devices"
        elif node is not None and not _usable_on(node, claim):
            yield f"pod {name} is on {pod['spec']['nodeName']}, where claim {claim_name} cannot be used"
        elif not _attached(claim):
            yield f"pod {name} has a node, but devices of claim {claim_name} are not attached"


def _attached(claim: JSON) -> bool:
    """Whether all binding conditions are true."""
    told = {
        (one["driver"], one["pool"], one["device"]): {c["type"] for c in one["conditions"] if c["status"] == "True"}
        for one in claim["status"].get("devices") or ()
    }
    return all(
        set(one.get("bindingConditions") or ()) <= told.get((one["driver"], one["pool"], one["device"]), set())
        for one in allocation(claim)
    )


def _usable_on(node: JSON, claim: JSON) -> bool:
    selector = claim["status"]["allocation"].get("nodeSelector")
    return selector is None or node_matches(node, {"nodeSelector": selector})


def leaks(state: State) -> Iterator[str]:
    """Nothing is left of pods and groups that are gone."""
    uids = {owner["metadata"]["uid"] for owner in (*state.pods.values(), *state.groups.values())}
    used = {name for pod in state.pods.values() for name in state.claims_of(pod)}
    for name, claim in state.claims.items():
        owners = [owner["uid"] for owner in claim["metadata"].get("ownerReferences") or ()]
        if claim["metadata"].get("deletionTimestamp") and not reserved_for(claim):
            yield f"claim {name} is deleted, but does not go away: {claim['metadata'].get('finalizers')}"
        elif owners and not uids.intersection(owners):
            yield f"claim {name} is left of a pod that is gone"
        elif (claim["metadata"].get("annotations") or {}).get(_SPECIAL) and name not in used:
            yield f"claim {name} for extended resources is left of an attempt that failed"


def waiting(state: State) -> Iterator[str]:
    """A pod has no node only if it fits on none, or is of a gang that cannot all be placed."""
    yield from _gangs(state)
    for name, pod in state.pods.items():
        if pod["spec"].get("nodeName") or group_of(pod):
            continue
        claims = [state.claims.get(claim or "") for claim in state.claims_of(pod)]
        if extended(pod):
            claims.append(objects.extended_claim(pod, extended(pod)))
        if None in claims:
            yield f"pod {name} waits for a claim that nobody creates"
        elif node := _fitting(state, [claim for claim in claims if claim is not None], [pod]):
            yield f"pod {name} waits although it fits on {node}"


def _gangs(state: State) -> Iterator[str]:
    """A gang has a node for all that it needs or for none; it waits only if no single node has room for all of it."""
    for name, group in state.groups.items():
        members = [pod for pod in state.members(name) if not ended(pod)]
        bound = [pod for pod in members if pod["spec"].get("nodeName")]
        needed = (group["spec"]["schedulingPolicy"].get("gang") or {"minCount": 1})["minCount"]
        if len(members) < needed:
            continue  # some of them have ended, or went with their node
        if 0 < len(bound) < needed:
            yield f"group {name} needs {needed} pods, and {len(bound)} of {len(members)} have a node"
        if bound:
            continue
        wanted = [state.claims.get(claim or "") for pod in members for claim in state.claims_of(pod)]
        claims = {claim["metadata"]["uid"]: claim for claim in wanted if claim is not None}
        if None in wanted:
            yield f"a pod of group {name} waits for a claim that nobody creates"
        elif node := _fitting(state, list(claims.values()), members):
            yield f"group {name} waits although all of it fits on {node}"


def _was_scheduled(group: JSON) -> bool:
    conditions = (group.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "PodGroupInitiallyScheduled" and each["status"] == "True" for each in conditions)


def _fitting(state: State, claims: list[JSON], pods: list[JSON]) -> str:
    """Return a node on which the claims of these pods can be had; empty: there is none.

    An allocation that nobody uses may be given up: a claim that has one counts as if it had none.
    """
    fixed = [claim for claim in claims if allocation(claim) and reserved_for(claim)]
    free = [claim for claim in claims if claim not in fixed]
    for name, node in state.nodes.items():
        if node.get("spec", {}).get("unschedulable"):
            continue
        if not all(_usable_on(node, claim) for claim in fixed):
            continue
        if _cpu_taken(state, name) + _cpu_wanted(claims, pods) > amount(node["status"]["allocatable"]["cpu"]):
            continue
        if not free or attempt(_question(state, node, free), _Drivers())["outcome"] == "results":
            return name
    return ""


def _cpu_wanted(claims: list[JSON], pods: list[JSON]) -> Fraction:
    """What pods would take, their devices included."""
    requests = (request for claim in claims for request in claim["spec"]["devices"]["requests"])
    cores = sum(1 for one in requests if one.get("exactly", {}).get("deviceClassName") == "cores")
    return cores * amount(objects.CORES_EACH) + sum((_cpu(pod) for pod in pods), Fraction())


def _question(state: State, node: JSON, claims: list[JSON]) -> JSON:
    names = {claim["metadata"]["name"] for claim in claims}
    holds = [hold for hold in state.holds() if hold.claim not in names and not hold.watching]
    consumed: dict[DeviceKey, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for hold in holds:
        if hold.shared:
            for name, value in hold.result.get("consumedCapacity", {}).items():
                consumed[hold.key][name] += amount(value)
    return {
        "features": _FEATURES,
        "node": node,
        "classes": list(state.classes.values()),
        "claimsToAllocate": claims,
        "slices": [_under_rules(one, state) for one in state.slices.values()],
        "allocatedDevices": [_entry(hold.key) for hold in holds if not hold.shared],
        "allocatedSharedDeviceIDs": [_entry(h.key) | {"shareID": h.result["shareID"]} for h in holds if h.shared],
        "aggregatedCapacity": [_entry(key) | {"consumedCapacity": dict(taken)} for key, taken in consumed.items()],
    }


def _under_rules(one: JSON, state: State) -> JSON:
    """A slice with the taints that rules add."""
    spec = one["spec"]
    where = {"driver": spec["driver"], "pool": spec["pool"]["name"]}
    rules = [(rule["spec"]["deviceSelector"], rule["spec"]["taint"]) for rule in state.rules.values()]
    devices = []
    for device in spec.get("devices") or ():
        added = [taint for selector, taint in rules if selector == {**where, "device": device["name"]}]
        devices.append({**device, "taints": [*(device.get("taints") or ()), *added]} if added else device)
    return {**one, "spec": {**spec, "devices": devices}} if devices else one


def _entry(key: DeviceKey) -> JSON:
    return dict(zip(("driver", "pool", "device"), key, strict=True))


class _Drivers:
    """Answers what the model asks about selectors, which in a simulation only test the driver."""

    def ask(self, question: JSON) -> JSON:
        """Return a letter per device."""
        text = question["expression"]
        if not text.startswith(_DRIVER_TEST):
            raise ValueError(f"the simulation's selectors test the driver only, not {text}")
        driver = text.removeprefix(_DRIVER_TEST).removesuffix('"')
        return {"letters": "".join("T" if one["driver"] == driver else "F" for one in question["devices"])}
