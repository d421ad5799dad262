"""Rare turns that a random cluster takes: what the plain generators hardly ever or never make.

Each twist changes one thing of a cluster: values at the ends of their ranges, kinds that are not known, state that no
longer fits, errors in selectors and derived attributes, explicit defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dra_bench.oracle.draw import Draw

JSON = dict[str, Any]
Twist = Callable[[Draw, JSON], None]
LARGE = ("9223372036854775807", "9223372036854775806", "8Ei", "9Pi", "9223372036854775807m", "10P")
BROKEN_SELECTORS = ("noSuchVar", "device.nosuch == 1", '"text"', "device.attributes[", "[1].map(x, x)[0]")
FAILING_CLASS = 'device.attributes["a.example.com"].numa >= 0'
DERIVED = (
    "1.5",
    "1u",
    "[]",
    "dyn([])",
    'dyn([1, dyn("a")])',
    'device.attributes["a.example.com"].nosuch',
    "dyn(null)",
    'dyn(quantity("1"))',
    "[true, false]",
    '[semver("1.0.0")]',
    'semver("1.0.0+b")',
    "device.driver +",
    "dyn(1.5)",
    '["p"]',
    "[0, 1]",
)


def _slices(cluster: JSON) -> Iterator[JSON]:
    yield from (one["spec"] for one in cluster["slices"])


def _devices(cluster: JSON) -> list[JSON]:
    return [device for spec in _slices(cluster) for device in spec.get("devices", ())]


def _bodies(cluster: JSON) -> list[JSON]:
    requests = [r for claim in cluster["claimsToAllocate"] for r in claim["spec"]["devices"]["requests"]]
    return [part for r in requests for part in (r.get("firstAvailable") or [r["exactly"]])]


def _identity(spec: JSON, device: JSON) -> JSON:
    return {"driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}


def _cel(text: str) -> JSON:
    return {"cel": {"expression": text}}


def _explicit_defaults(draw: Draw, cluster: JSON) -> None:
    """Defaults that are written out, and fields that say nothing to an allocator."""
    for claim in cluster["claimsToAllocate"]:
        for request in claim["spec"]["devices"]["requests"]:
            if "exactly" in request:
                request["exactly"].setdefault("adminAccess", False)
    for device in _devices(cluster):
        device.setdefault("allowMultipleAllocations", False)
        device.setdefault("bindsToNode", False)
        if draw.chance(0.3):  # what the scheduler counts elsewhere
            device["nodeAllocatableResources"] = {"cpu": {"mapping": {"deviceMultiplier": "2"}}}
    for spec in _slices(cluster):
        if draw.chance(0.3):
            spec["partitionTypeAttribute"] = "a.example.com/model"


def _patient_tolerations(draw: Draw, cluster: JSON) -> None:
    for body in _bodies(cluster):
        body["tolerations"] = [
            {"key": "broken", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": draw.number(0, 60)},
            {"key": "broken", "value": "yes", "effect": "NoSchedule"},
            {"key": "broken", "effect": "NoSchedule"},
        ][draw.number(0, 1) :]
    for device in _devices(cluster):
        if draw.chance(0.4):
            taint = {
                "key": "broken",
                "value": draw.one(["", "yes", "no"]),
                "effect": draw.one(["NoSchedule", "NoExecute"]),
            }
            device["taints"] = [{**taint, "timeAdded": "2026-01-02T03:04:05Z"}]


def _broken_selector(draw: Draw, cluster: JSON) -> None:
    draw.one(_bodies(cluster)).setdefault("selectors", []).append(_cel(draw.one(BROKEN_SELECTORS)))


def _broken_class(draw: Draw, cluster: JSON) -> None:
    text = draw.one((*BROKEN_SELECTORS, FAILING_CLASS, FAILING_CLASS))
    draw.one(cluster["classes"])["spec"].setdefault("selectors", []).append(_cel(text))


def _derived(draw: Draw, cluster: JSON) -> None:
    """An attribute of a type that none may have, or that fails, or a list."""
    name = "derived.example.com/group"
    for claim in cluster["claimsToAllocate"]:
        devices = claim["spec"]["devices"]
        for request in devices["requests"]:
            for part in request.get("firstAvailable") or [request["exactly"]]:
                part["derivedAttributes"] = [{"name": name, "expression": draw.one(DERIVED)}]
        devices.setdefault("constraints", []).append({draw.one(["matchAttribute", "distinctAttribute"]): name})


def _unknown_attribute(draw: Draw, cluster: JSON) -> None:
    """A value of a kind that is not known.

    Without list attributes Kubernetes lets it pass as the first of a constraint, on devices that no selector looks
    at; for us nothing is known of it.
    """
    cluster["features"]["ListTypeAttributes"] = True
    for device in _devices(cluster):
        if draw.chance(0.3):
            device.setdefault("attributes", {})[draw.one(["numa", "model"])] = draw.one([{}, {"duration": "1s"}])


def _qualified_capacity(draw: Draw, cluster: JSON) -> None:
    names = {"mem": draw.one(["a.example.com/mem", "other.example.com/mem"])}
    for device in _devices(cluster):
        if "capacity" in device and draw.chance(0.7):
            device["capacity"] = {names.get(name, name): value for name, value in device["capacity"].items()}
    for body in _bodies(cluster):
        if "capacity" in body and draw.chance(0.5):
            requests = body["capacity"]["requests"]
            body["capacity"] = {"requests": {names.get(name, name): value for name, value in requests.items()}}


def _large_capacity(draw: Draw, cluster: JSON) -> None:
    for device in _devices(cluster):
        if draw.chance(0.7):
            device["allowMultipleAllocations"] = draw.chance(0.8)
            capacity: JSON = {"value": draw.one(LARGE)}
            limits = {
                "min": draw.one(["0", "1", "1Ki", "500m"]),
                "step": draw.one(["1", "2", "4Ki", "7", "1P", "250m"]),
            }
            if draw.chance(0.7):
                capacity["requestPolicy"] = {"default": limits["min"], "validRange": limits}
            device["capacity"] = {"mem": capacity}
    for body in _bodies(cluster):
        if draw.chance(0.7):
            body["capacity"] = {"requests": {"mem": draw.one((*LARGE, "3", "0", "18446744073709551616"))}}


def _negative_capacity(draw: Draw, cluster: JSON) -> None:
    draw.one(_bodies(cluster))["capacity"] = {"requests": {draw.one(["mem", "slots"]): draw.one(["-1", "-500m"])}}


def _dedicated_policy(draw: Draw, cluster: JSON) -> None:
    """Policies on devices that are not shared, and without a default or with values only."""
    policies: list[JSON] = [
        {"validValues": ["2", "4"]},
        {"default": "4", "validRange": {"min": "2", "max": "4"}},
        {"validRange": {"min": "1", "step": "2"}},
        {"default": "0", "validRange": {"min": "0", "max": "0"}},
    ]
    for device in _devices(cluster):
        if draw.chance(0.6):
            device.pop("allowMultipleAllocations", None)
            device["capacity"] = {"mem": {"value": draw.one(["0", "4", "8"]), "requestPolicy": draw.one(policies)}}
    for body in _bodies(cluster):
        if draw.chance(0.5):
            body["capacity"] = {"requests": {"mem": draw.one(["0", "1", "3", "8"])}}


def _state_that_does_not_fit(draw: Draw, cluster: JSON) -> None:
    """Devices that are gone, shares of what is not shared, amounts of what is no capacity, amounts without a share."""
    gone = {"driver": "a.example.com", "pool": "pool-1", "device": "gone"}
    cluster["allocatedDevices"].append(gone)
    pairs = [(spec, device) for spec in _slices(cluster) for device in spec.get("devices", ())]
    if not pairs:
        return
    spec, device = draw.one(pairs)
    identity = _identity(spec, device)
    held = [*cluster["allocatedDevices"], *cluster["allocatedSharedDeviceIDs"], *cluster["aggregatedCapacity"]]
    if any(all(one[key] == value for key, value in identity.items()) for one in held):
        return
    if draw.chance(0.6):
        share = {**identity, "shareID": "00000000-0000-0000-0000-000000000009"}
        cluster["allocatedSharedDeviceIDs"].append(share)
    if draw.chance(0.6):
        amounts = {draw.one(["mem", "slots", "nosuch"]): draw.one(["0", "1", "100"])}
        cluster["aggregatedCapacity"].append({**identity, "consumedCapacity": amounts})


def _odd_node_selectors(draw: Draw, cluster: JSON) -> None:
    terms: list[list[JSON]] = [
        [{"matchExpressions": [{"key": "size", "operator": "Lt", "values": ["3"]}]}],
        [
            {
                "matchExpressions": [{"key": "size", "operator": "Exists"}],
                "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["node-2"]}],
            }
        ],
        [
            {
                "matchExpressions": [
                    {"key": "zone", "operator": "In", "values": ["z1"]},
                    {"key": "gone", "operator": "Exists"},
                ]
            }
        ],
        [{"matchExpressions": [{"key": "zone", "operator": "Exists"}, {"key": "size", "operator": "Exists"}]}],
        [{}],
    ]
    for spec in _slices(cluster):
        for scope in (spec, *spec.get("devices", ())):
            if "nodeSelector" in scope or (scope.get("allNodes") and draw.chance(0.5)):
                scope.pop("allNodes", None)
                scope["nodeSelector"] = {"nodeSelectorTerms": draw.one(terms)}
    if draw.chance(0.2):
        del cluster["node"]["metadata"]["labels"]


def _other_lists(draw: Draw, cluster: JSON) -> None:
    """Lists of versions and bools, and scalars between them."""
    for device in _devices(cluster):
        attributes = device.setdefault("attributes", {})
        attributes["ext.example.com/version"] = draw.one(
            [{"versions": draw.some(["1.0.0", "1.0.0+b", "2.0.0"], 1, 3)}, {"version": draw.one(["1.0.0", "2.0.0"])}]
        )
        attributes["ok"] = draw.one([{"bools": draw.some([True, False], 1, 2)}, {"bool": draw.chance(0.5)}])
    for claim in cluster["claimsToAllocate"]:
        devices = claim["spec"]["devices"]
        attribute = draw.one(["ext.example.com/version", "a.example.com/ok", "b.example.com/ok"])
        devices.setdefault("constraints", []).append({draw.one(["matchAttribute", "distinctAttribute"]): attribute})


def _repeated_counter_set(draw: Draw, cluster: JSON) -> None:
    """A set that another slice has too, or counters that are odd."""
    sets = [spec["sharedCounters"] for spec in _slices(cluster) if spec.get("sharedCounters")]
    if not sets:
        return
    if draw.chance(0.3):
        draw.one(sets).append({"name": "set-1", "counters": {"mem": {"value": "2"}, "cores": {"value": "2"}}})
        return
    for one in sets:
        for counter_set in one:
            counter_set["counters"]["mem"] = {"value": draw.one(["0", "1500m", "9223372036854775807", "1"])}
    for device in _devices(cluster):
        for used in device.get("consumesCounters", ()):
            if "mem" in used["counters"]:
                used["counters"]["mem"] = {"value": draw.one(["0", "500m", "750m", "1", "9223372036854775807"])}


def _slice_count(draw: Draw, cluster: JSON) -> None:
    """A pool that says that it has one slice less or more than there are."""
    pool = draw.one(cluster["slices"])["spec"]["pool"]
    change = draw.one([-1, 1])
    for one in cluster["slices"]:
        if (one["spec"]["pool"]["name"], one["spec"]["pool"]["generation"]) == (pool["name"], pool["generation"]):
            one["spec"]["pool"]["resourceSliceCount"] += change


def _large_counts(draw: Draw, cluster: JSON) -> None:
    body = draw.one(_bodies(cluster))
    if body["allocationMode"] == "ExactCount":
        body["count"] = draw.one([31, 32, 33, 100, 4611686018427387904, 9223372036854775807])


def _more_binding(draw: Draw, cluster: JSON) -> None:
    for device in _devices(cluster):
        if draw.chance(0.5):
            device["bindingConditions"] = draw.some(["ready", "attached", "warm"], 1, 3)
            device["bindsToNode"] = draw.chance(0.3)
            if draw.chance(0.5):
                device["bindingFailureConditions"] = draw.some(["failed", "gone"], 1, 2)


def _unknown_scope(draw: Draw, cluster: JSON) -> None:
    """A slice or device that names its nodes in a way that is not known yet."""
    spec = draw.one(cluster["slices"])["spec"]
    scope = draw.one([spec, *spec.get("devices", ())])
    for key in ("nodeName", "allNodes", "nodeSelector", "perDeviceNodeSelection"):
        scope.pop(key, None)


def _unknown_kinds(draw: Draw, cluster: JSON) -> None:
    """A selector, a constraint, a mode or a request of a kind that is not known."""
    claim = draw.one(cluster["claimsToAllocate"])
    body = draw.one(_bodies(cluster))
    kind = draw.number(0, 4)
    if kind == 0:
        body.setdefault("selectors", []).append({"rego": "x"})
    elif kind == 1:
        body["allocationMode"] = "future-mode"
    elif kind == 2:
        body["deviceClassName"] = ""
    elif kind == 3:
        claim["spec"]["devices"].setdefault("constraints", []).append({"similarAttribute": "a.example.com/numa"})
    else:
        request = draw.one(claim["spec"]["devices"]["requests"])
        request.pop("exactly", None)
        request.pop("firstAvailable", None)


def _nothing_asked(draw: Draw, cluster: JSON) -> None:
    if draw.chance(0.3):
        cluster["claimsToAllocate"] = []
    else:
        draw.one(cluster["claimsToAllocate"])["spec"]["devices"] = {"requests": []}


def _other_constraints(draw: Draw, cluster: JSON) -> None:
    """Constraints on attributes that nobody or another driver has, and several on the same one."""
    for claim in cluster["claimsToAllocate"]:
        names = ["a.example.com/nosuch", "ext.example.com/numa", "b.example.com/model", "a.example.com/numa"]
        kinds = ["matchAttribute", "distinctAttribute"]
        added = [{draw.one(kinds): draw.one(names)} for _ in range(draw.number(1, 3))]
        claim["spec"]["devices"].setdefault("constraints", []).extend(added)


TWISTS: Mapping[str, Twist] = {
    twist.__name__.strip("_"): twist
    for twist in (
        _explicit_defaults,
        _patient_tolerations,
        _broken_selector,
        _broken_class,
        _derived,
        _unknown_attribute,
        _qualified_capacity,
        _large_capacity,
        _negative_capacity,
        _dedicated_policy,
        _state_that_does_not_fit,
        _odd_node_selectors,
        _other_lists,
        _repeated_counter_set,
        _slice_count,
        _large_counts,
        _more_binding,
        _unknown_scope,
        _unknown_kinds,
        _nothing_asked,
        _other_constraints,
    )
}
"""By name."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "derived": ("DerivedAttributes",),
    "large_capacity": ("ConsumableCapacity",),
    "negative_capacity": ("ConsumableCapacity",),
    "dedicated_policy": ("ConsumableCapacity",),
    "other_lists": ("ListTypeAttributes",),
    "more_binding": ("DeviceBindingAndStatus",),
    "patient_tolerations": ("DeviceTaints",),
    "repeated_counter_set": ("PartitionableDevices",),
}
"""What must usually be on for a twist to show."""


def twisted(draw: Draw, cluster: JSON) -> JSON:
    """Change a cluster by one or two twists."""
    for name in draw.some(list(TWISTS), 1, 2):
        if cluster["claimsToAllocate"] and _bodies_are_known(cluster) and cluster["classes"]:
            TWISTS[name](draw, cluster)
            if draw.chance(0.9):
                cluster["features"] |= dict.fromkeys(NEEDS.get(name, ()), True)
    return cluster


def _bodies_are_known(cluster: JSON) -> bool:
    requests = [r for claim in cluster["claimsToAllocate"] for r in claim["spec"]["devices"]["requests"]]
    return bool(requests) and all("exactly" in r or "firstAvailable" in r for r in requests)
