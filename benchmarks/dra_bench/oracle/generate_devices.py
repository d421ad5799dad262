"""Random devices, in the form of resource.k8s.io/v1: names and values from sets so small that they collide."""

from __future__ import annotations

from typing import Any

from dra_bench.oracle.draw import Draw

JSON = dict[str, Any]

COUNTER_SETS = ("set-1", "set-2")
COUNTERS = ("mem", "cores")
TAINTS = (
    {"key": "broken", "effect": "NoSchedule"},
    {"key": "broken", "value": "yes", "effect": "NoExecute"},
    {"key": "note", "effect": "None"},
)
POLICIES = (
    {"default": "2", "validValues": ["2", "4", "8"]},
    {"default": "1", "validRange": {"min": "1"}},
    {"default": "2", "validRange": {"min": "2", "max": "8", "step": "2"}},
    {"default": "1", "validRange": {"min": "1", "max": "7", "step": "3"}},
    {"default": "500m", "validRange": {"min": "500m", "max": "3500m", "step": "250m"}},
    {"default": "0"},
    {"default": "0", "validValues": ["0", "4"]},
)
SELECTORS = (
    [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1", "z2"]}]}],
    [{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["z1"]}]}],
    [{"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["3"]}]}],
    [{"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}, {"key": "zone", "operator": "Exists"}]}],
    [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}],
)
BROKEN_SELECTORS = (
    [{"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["z1"]}]}],
    [
        {"matchExpressions": [{"key": "zone", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "size", "operator": "Exists"}]},
    ],
)


def scope(draw: Draw) -> JSON:
    """Which nodes see it: usually the one that is asked for (`node-1`)."""
    kind = draw.weighted({"node-1": 8, "node-2": 1, "all": 5, "selector": 3})
    if kind == "all":
        return {"allNodes": True}
    if kind == "selector":
        return {"nodeSelector": {"nodeSelectorTerms": draw.one(SELECTORS)}}
    return {"nodeName": kind}


class DeviceMaker:
    """Makes the devices of one pool. `aspects` are the features that this cluster uses at all."""

    def __init__(self, draw: Draw, aspects: frozenset[str], driver: str) -> None:
        self._draw = draw
        self._aspects = aspects
        self._driver = driver

    def device(self, name: str, *, per_device: bool, counters: bool) -> JSON:
        """One device; with `per_device` it says which nodes see it, with `counters` it may consume some."""
        draw = self._draw
        made: JSON = {"name": name}
        if attributes := self._attributes():
            made["attributes"] = attributes
        if capacity := self._capacity(made):
            made["capacity"] = capacity
        if per_device:
            made |= scope(draw)
            if draw.chance(0.03):
                made = {key: value for key, value in made.items() if key not in ("nodeName", "allNodes")}
                made["nodeSelector"] = {"nodeSelectorTerms": draw.one(BROKEN_SELECTORS)}
        if "taints" in self._aspects and draw.chance(0.2):
            made["taints"] = draw.some(TAINTS, 1, 2)
        if "binding" in self._aspects:
            made |= self._binding()
        if counters and draw.chance(0.8):
            made["consumesCounters"] = self._consumption()
        return made

    def _attributes(self) -> JSON:
        draw = self._draw
        attributes: JSON = {}
        if draw.chance(0.9):
            attributes[self._name("model")] = {"string": draw.one(["a", "b"])}
        if draw.chance(0.9):
            attributes[self._name("numa")] = self._numa()
        if draw.chance(0.4):
            attributes["ok"] = {"bool": draw.chance(0.5)}
        if draw.chance(0.3):
            attributes["ext.example.com/version"] = {"version": draw.one(["1.0.0", "1.1.0", "1.0.0+b", "2.0.0-rc.1"])}
        return attributes

    def _numa(self) -> JSON:
        draw = self._draw
        if "lists" in self._aspects and draw.chance(0.6):
            if draw.chance(0.15):
                return {"strings": draw.some(["a", "b"], 1, 2)}
            return {"ints": draw.shuffled(draw.some([0, 1, 2], 1, 2))}
        return {"string": "0"} if draw.chance(0.05) else {"int": draw.number(0, 2)}

    def _name(self, name: str) -> str:
        return f"{self._driver}/{name}" if self._draw.chance(0.15) else name

    def _capacity(self, device: JSON) -> JSON:
        draw = self._draw
        shared = "shared" in self._aspects and draw.chance(0.6)
        if shared:
            device["allowMultipleAllocations"] = True
        capacity: JSON = {}
        for name in ("mem", "slots"):
            if draw.chance(0.5 if shared or "shared" in self._aspects else 0.2):
                capacity[name] = {"value": draw.one(["4", "8", "10", "3500m", "6", "8"])}
                if shared and draw.chance(0.6):
                    capacity[name]["requestPolicy"] = self._policy()
        return capacity

    def _policy(self) -> JSON:
        fractional = "fractional" in self._aspects
        usable = [policy for policy in POLICIES if fractional or "500m" not in str(policy)]
        return dict(self._draw.one(usable))

    def _binding(self) -> JSON:
        draw = self._draw
        made: JSON = {}
        if draw.chance(0.3):
            made |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}
            if draw.chance(0.5):
                made["bindsToNode"] = True
        return made

    def _consumption(self) -> list[JSON]:
        draw = self._draw
        consumption = []
        for counter_set in draw.some(COUNTER_SETS, 1, 1 if draw.chance(0.7) else 2):
            counters = {name: {"value": draw.one(["1", "2", "3"])} for name in draw.some(COUNTERS, 1, 2)}
            entry: JSON = {"counterSet": counter_set, "counters": counters}
            if "groups" in self._aspects and draw.chance(0.6):
                entry["compatibilityGroups"] = draw.some(["x", "y", "z"], 1, 2)
            consumption.append(entry)
        return consumption
