"""Clusters around one feature, in which it decides: what the plain generators leave to rare coincidences.

A scene has one or two complete pools that the node sees, devices with what the feature is about, claims that usually
can be satisfied, and sometimes devices that are held already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_bench.oracle.draw import Draw
from dra_bench.oracle.features import FEATURES

JSON = dict[str, Any]
Scene = Callable[[Draw], JSON]
API_VERSION = "resource.k8s.io/v1"
DRIVERS = ("a.example.com", "b.example.com")
GROUP = "derived.example.com/group"
DERIVED = (
    'device.attributes["a.example.com"].?numa.orValue(7)',
    'device.attributes["a.example.com"].?model.orValue("none")',
    'device.driver == "a.example.com"',
    'device.attributes["a.example.com"].?numa.orValue(0) > 0 ? ["p", "q"] : ["q", "r"]',
    'device.capacity["a.example.com"].?mem.orValue(quantity("0")).asInteger() / 4',
    'semver("1.0." + string(device.attributes["a.example.com"].?numa.orValue(0)))',
)


def _class(draw: Draw) -> list[JSON]:
    spec: JSON = {}
    if draw.chance(0.5):
        spec["config"] = [{"opaque": {"driver": "a.example.com", "parameters": {"of": "class"}}}]
    return [{"apiVersion": API_VERSION, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": spec}]


def _slice(number: int, driver: str, count: int, scope: JSON, **content: Any) -> JSON:
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": count}
    metadata = {"name": f"slice-{number}"}
    spec = {"driver": driver, "pool": pool, **scope, **content}
    return {"apiVersion": API_VERSION, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


def _claim(number: int, requests: list[JSON], constraints: list[JSON], config: list[JSON]) -> JSON:
    metadata = {"name": f"claim-{number}", "namespace": "default", "uid": f"claim-{number}"}
    devices: JSON = {"requests": requests}
    devices |= {"constraints": constraints} if constraints else {}
    devices |= {"config": config} if config else {}
    return {"apiVersion": API_VERSION, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}


class Stage:
    """Makes the parts of a scene: `features` are on, `device` and `body` make devices and requests."""

    def __init__(
        self,
        draw: Draw,
        features: tuple[str, ...],
        device: Callable[[int], JSON],
        body: Callable[[], JSON],
        *,
        shared: list[JSON] | None = None,
        subrequests: float = 0.15,
    ) -> None:
        self._draw = draw
        self._features = ("PrioritizedList", *features)
        self._device = device
        self._body = body
        self._shared = shared
        self._subrequests = subrequests

    def cluster(self, constraints: Callable[[list[str]], list[JSON]] = lambda names: []) -> JSON:
        """Put it all together; `constraints` may name the requests that it is given."""
        draw = self._draw
        slices = self._slices()
        claims = [self._whole_claim(number, constraints) for number in range(draw.weighted({1: 3, 2: 2}))]
        features = {name: name in self._features or draw.chance(0.3) for name in FEATURES}
        features["PartitionableDevices"] |= features["CompatibilityGroups"]
        features["ConsumableCapacity"] |= features["FractionalCapacityRange"]
        status = {"declaredFeatures": ["DRAOptionalNodeOperations"]} if draw.chance(0.8) else {}
        metadata = {"name": "node-1", "labels": {"zone": "z1"}}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status}
        return {
            "features": features,
            "node": node,
            "classes": _class(draw),
            "claimsToAllocate": claims,
            "slices": draw.shuffled(slices),
            **self._held(slices, shares=features["ConsumableCapacity"]),
        }

    def _slices(self) -> list[JSON]:
        draw = self._draw
        made: list[JSON] = []
        for driver in draw.some(DRIVERS, 1, 2):
            scopes: list[JSON] = [{"nodeName": "node-1"}, {"nodeName": "node-1"}, {"allNodes": True}]
            scope = draw.one(scopes)
            parts = [[self._device(number) for number in range(draw.number(1, 4))] for _ in range(draw.number(1, 2))]
            number = 0
            for part in parts:
                for device in part:
                    device["name"] = f"dev-{number}"
                    number += 1
            count = len(parts) + (self._shared is not None)
            made += [_slice(len(made) + i, driver, count, scope, devices=part) for i, part in enumerate(parts)]
            if self._shared is not None:
                made.append(_slice(len(made), driver, count, scope, sharedCounters=self._shared))
        return made

    def _whole_claim(self, number: int, constraints: Callable[[list[str]], list[JSON]]) -> JSON:
        draw = self._draw
        requests: list[JSON] = []
        names: list[str] = []
        for index in range(draw.number(1, 2)):
            name = f"r{index}"
            names.append(name)
            if draw.chance(self._subrequests):
                parts = [{"name": f"s{sub}", **self._body()} for sub in range(draw.number(1, 3))]
                for part in parts:
                    part.pop("adminAccess", None)
                requests.append({"name": name, "firstAvailable": parts})
                names += [f"{name}/{part['name']}" for part in parts]
            else:
                requests.append({"name": name, "exactly": self._body()})
        opaque = {"opaque": {"driver": "a.example.com", "parameters": {"of": "claim"}}}
        config = [{**opaque, "requests": draw.some(names, 1, 2)} for _ in range(draw.number(0, 1))]
        return _claim(number, requests, constraints(names), config)

    def _held(self, slices: list[JSON], *, shares: bool) -> JSON:
        draw = self._draw
        whole, shared, consumed = [], [], []
        for one in slices:
            for device in one["spec"].get("devices", ()):
                identity = {"driver": one["spec"]["driver"], "pool": "pool", "device": device["name"]}
                if not draw.chance(0.3):
                    continue
                if not (shares and device.get("allowMultipleAllocations")):
                    whole.append(identity)
                    continue
                shared.append({**identity, "shareID": "00000000-0000-0000-0000-000000000001"})
                amounts = {name: draw.one(["500m", "1", "1250m", "2"]) for name in device.get("capacity", ())}
                consumed += [{**identity, "consumedCapacity": amounts}] if amounts else []
        return {"allocatedDevices": whole, "allocatedSharedDeviceIDs": shared, "aggregatedCapacity": consumed}


def _body(draw: Draw, **more: Any) -> JSON:
    mode: JSON = {"allocationMode": "ExactCount", "count": draw.weighted({1: 5, 2: 3, 3: 1})}
    if draw.chance(0.15):
        mode = {"allocationMode": "All"}
    return {"deviceClassName": "any", **mode, **more}


def _fractions(draw: Draw) -> JSON:
    """Shares of devices whose ranges have fractions."""
    ranges = [
        {"min": "500m", "max": "3500m", "step": "250m"},
        {"min": "0", "step": "100m"},
        {"min": "250m", "max": "2"},
        {"min": "1", "max": "7", "step": "1500m"},
        {"min": "333m", "step": "1m"},
        {"min": "1", "step": "1"},
    ]

    def device(number: int) -> JSON:
        capacity: JSON = {}
        for name in draw.some(["mem", "slots"], 1, 2):
            limits = draw.one(ranges)
            capacity[name] = {"value": draw.one(["4", "3500m", "10", "2250m"])}
            if draw.chance(0.85):
                policy = {"default": limits["min"], "validRange": limits}
                capacity[name]["requestPolicy"] = policy
        return {"capacity": capacity, "allowMultipleAllocations": draw.chance(0.85)}

    def body() -> JSON:
        amounts = ["100m", "250m", "1", "1100m", "1250m", "2", "333m", "1u", "0", "1500m"]
        requests = {name: draw.one(amounts) for name in draw.some(["mem", "slots"], 0, 2)}
        return _body(draw, **({"capacity": {"requests": requests}} if requests else {}))

    return Stage(draw, ("ConsumableCapacity", "FractionalCapacityRange"), device, body).cluster()


def _groups(draw: Draw) -> JSON:
    """Partitions with compatibility groups, some of them held."""
    sets = [{"name": name, "counters": {"mem": {"value": draw.one(["4", "6", "8"])}}} for name in ("set-1", "set-2")]

    def device(number: int) -> JSON:
        made: JSON = {"consumesCounters": []}
        for one in draw.some(["set-1", "set-2"], 1, 2):
            entry: JSON = {"counterSet": one, "counters": {"mem": {"value": draw.one(["1", "2"])}}}
            if draw.chance(0.8):
                entry["compatibilityGroups"] = draw.some(["x", "y", "z"], 1, 2)
            made["consumesCounters"].append(entry)
        if draw.chance(0.2):
            made |= {"allowMultipleAllocations": True, "capacity": {"mem": {"value": "4"}}}
        return made

    features = ("PartitionableDevices", "CompatibilityGroups")
    return Stage(draw, features, device, lambda: _body(draw), shared=sets).cluster()


def _attributes(draw: Draw, *, lists: float) -> JSON:
    attributes: JSON = {"model": {"string": draw.one(["a", "b"])}}
    numbers = draw.some([0, 1, 2, 3], 1, 3)
    attributes["numa"] = {"ints": draw.shuffled(numbers)} if draw.chance(lists) else {"int": numbers[0]}
    return attributes


def _constraints(draw: Draw, attributes: list[str]) -> Callable[[list[str]], list[JSON]]:
    def made(names: list[str]) -> list[JSON]:
        kinds = ["matchAttribute", "distinctAttribute"]
        some = [{draw.one(kinds): draw.one(attributes)} for _ in range(draw.weighted({1: 4, 2: 1}))]
        return [one | ({"requests": draw.some(names, 1, 2)} if draw.chance(0.25) else {}) for one in some]

    return made


def _derived(draw: Draw) -> JSON:
    """Constraints over derived attributes, by request."""

    def device(number: int) -> JSON:
        capacity = {"mem": {"value": draw.one(["4", "8"])}}
        return {"attributes": _attributes(draw, lists=0), "capacity": capacity}

    expressions = draw.some(DERIVED, 1, 2)

    def body() -> JSON:
        name = GROUP if draw.chance(0.8) else "a.example.com/numa"
        return _body(draw, derivedAttributes=[{"name": name, "expression": draw.one(expressions)}])

    features = ("DerivedAttributes", "ListTypeAttributes") if draw.chance(0.7) else ("DerivedAttributes",)
    return Stage(draw, features, device, body).cluster(_constraints(draw, [GROUP, GROUP, "a.example.com/numa"]))


def _lists(draw: Draw) -> JSON:
    """Constraints over lists."""
    stage = Stage(
        draw,
        ("ListTypeAttributes",),
        lambda number: {"attributes": _attributes(draw, lists=0.7)},
        lambda: _body(draw),
    )
    return stage.cluster(_constraints(draw, ["a.example.com/numa", "a.example.com/model", "b.example.com/numa"]))


def _alternatives(draw: Draw) -> JSON:
    """Prioritized lists with mode All, selectors and constraints on subrequests."""

    def body() -> JSON:
        made = _body(draw)
        if draw.chance(0.35):
            made = {"deviceClassName": "any", "allocationMode": "All"}
        text = draw.one(["a", "b"])
        expression = f'device.attributes["a.example.com"].?model.orValue("a") == "{text}"'
        return made | ({"selectors": [{"cel": {"expression": expression}}]} if draw.chance(0.6) else {})

    stage = Stage(draw, (), lambda number: {"attributes": _attributes(draw, lists=0)}, body, subrequests=0.8)
    return stage.cluster(_constraints(draw, ["a.example.com/model"]) if draw.chance(0.3) else lambda names: [])


def _admin(draw: Draw) -> JSON:
    """Admin access to devices that are held, shared, partitioned or tainted."""
    sets = [{"name": "set-1", "counters": {"mem": {"value": draw.one(["2", "4"])}}}] if draw.chance(0.4) else None

    def device(number: int) -> JSON:
        made: JSON = {}
        if sets and draw.chance(0.7):
            made["consumesCounters"] = [{"counterSet": "set-1", "counters": {"mem": {"value": draw.one(["1", "2"])}}}]
        if draw.chance(0.4):
            made |= {"allowMultipleAllocations": True, "capacity": {"mem": {"value": "2"}}}
        if draw.chance(0.2):
            made["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
        return made

    def body() -> JSON:
        made = _body(draw)
        return made | ({"adminAccess": True} if draw.chance(0.6) else {})

    features = ("AdminAccess", "ConsumableCapacity", "PartitionableDevices", "DeviceTaints")
    return Stage(draw, features, device, body, shared=sets).cluster()


def _tainted(draw: Draw) -> JSON:
    """Taints of every effect, tolerations in every form, binding conditions, optional node operations."""

    def device(number: int) -> JSON:
        made: JSON = {}
        if draw.chance(0.6):
            effects = ["NoSchedule", "NoExecute", "None"]
            made["taints"] = [
                {"key": key, "value": draw.one(["", "yes"]), "effect": draw.one(effects)}
                for key in draw.some(["broken", "old"], 1, 2)
            ]
        if draw.chance(0.3):
            made |= {"bindingConditions": ["ready"], "bindingFailureConditions": draw.some(["failed", "gone"], 1, 2)}
            made |= {"bindsToNode": True} if draw.chance(0.5) else {}
        return made

    def toleration() -> JSON:
        made: JSON = draw.one([{"operator": "Exists"}, {"operator": "Equal", "value": "yes"}, {"value": "yes"}, {}])
        made = {"key": draw.one(["broken", "old"]), **made}
        if draw.chance(0.5):
            made["effect"] = draw.one(["NoSchedule", "NoExecute"])
            if made["effect"] == "NoExecute" and draw.chance(0.5):
                made["tolerationSeconds"] = draw.number(0, 9)
        if draw.chance(0.1) and made.get("operator") == "Exists":
            del made["key"]
        return made

    def body() -> JSON:
        return _body(draw, tolerations=[toleration() for _ in range(draw.number(1, 3))])

    features = ("DeviceTaints", "DeviceBindingAndStatus", "OptionalNodeOperations")
    made = Stage(draw, features, device, body).cluster()
    for one in made["slices"]:
        if draw.chance(0.2):
            one["spec"]["skipNodeOperations"] = draw.one([["*"], ["NodeUnprepareResources"]])
    return made


SCENES: Mapping[str, Scene] = {
    scene.__name__.strip("_"): scene
    for scene in (_fractions, _groups, _derived, _lists, _alternatives, _admin, _tainted)
}
"""By name."""


def scene(draw: Draw) -> JSON:
    """Return the cluster of a random scene."""
    return SCENES[draw.one(list(SCENES))](draw)
