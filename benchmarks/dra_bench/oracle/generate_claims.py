"""Random claims and classes: every form of request, constraint and configuration."""

from __future__ import annotations

from typing import Any

from dra_bench.oracle.draw import Draw
from dra_bench.oracle.generate_slices import CROWD

JSON = dict[str, Any]
API_VERSION = "resource.k8s.io/v1"
A = 'device.attributes["a.example.com"]'
MODELS = [
    f'"model" in {A} && {A}.model == "a"',
    f'{A}.?model.orValue("a") == "b"',
    'device.attributes["b.example.com"].?numa.orValue(0) != 1',
    'device.capacity["a.example.com"].?mem.orValue(quantity("0")).compareTo(quantity("6")) >= 0',
    'device.attributes["ext.example.com"].?version.orValue(semver("1.0.0")).isGreaterThan(semver("1.0.0"))',
]
SHARED_SELECTORS = ["device.allowMultipleAllocations", "!device.allowMultipleAllocations"]
FAILING = [f'{A}.model == "a"', f"{A}.numa > 0", 'device.attributes["b.example.com"].ok']
CLASSES = {
    "any": [],
    "a": ['device.driver == "a.example.com"'],
    "b": ['device.driver == "b.example.com"'],
    "model-a": [f'{A}.?model.orValue("") == "a"'],
}
CLASS_CHOICE = {"any": 16, "a": 8, "b": 4, "model-a": 2}
ATTRIBUTES = [
    "a.example.com/numa",
    "a.example.com/model",
    "b.example.com/numa",
    "a.example.com/ok",
    "ext.example.com/version",
]
DERIVED = [
    'device.driver + "!"',
    f"{A}.?numa.orValue(7)",
    f'{A}.?model.orValue("none")',
    'device.capacity["a.example.com"].?mem.orValue(quantity("0")).asInteger()',
    'device.attributes["b.example.com"].?ok.orValue(true)',
    f'{A}.?numa.orValue(1) == 1 ? ["p", "q"] : ["q", "r"]',
]
TOLERATIONS = [
    {"key": "broken", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "broken", "operator": "Equal", "value": "yes"},
    {"operator": "Exists"},
    {"key": "broken", "operator": "Exists"},
]


def classes(draw: Draw) -> list[JSON]:
    """All classes, rarely without one that a claim may name."""
    made = []
    for name, selectors in CLASSES.items():
        spec: JSON = {}
        if selectors:
            spec["selectors"] = [cel(text) for text in selectors]
        if draw.chance(0.25):
            spec["config"] = [opaque(f"class {name} {number}") for number in range(draw.number(1, 2))]
        made.append({"apiVersion": API_VERSION, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})
    return made[:-1] if draw.chance(0.02) else made


def cel(text: str) -> JSON:
    """A selector."""
    return {"cel": {"expression": text}}


def opaque(text: str) -> JSON:
    """A configuration."""
    return {"opaque": {"driver": "a.example.com", "parameters": {"for": text}}}


class ClaimMaker:
    """Makes claims for a cluster that uses `aspects` and has devices of `drivers`, rarely for any other."""

    def __init__(self, draw: Draw, aspects: frozenset[str], drivers: frozenset[str]) -> None:
        self._draw = draw
        self._aspects = aspects
        known = {name[0] for name in drivers} | ({"a", "b"} if draw.chance(0.1) else set())
        self._classes = {name: weight for name, weight in CLASS_CHOICE.items() if name not in {"a", "b"} - known}
        self._attributes = [name for name in ATTRIBUTES if name[0] in known | {"e"}]

    def claim(self, number: int) -> JSON:
        """One claim with one or two requests (rarely three)."""
        draw = self._draw
        requests = [self._request(f"r{index}") for index in range(draw.weighted({1: 7, 2: 5, 3: 1}))]
        devices: JSON = {"requests": requests}
        names = self._names(requests)
        derived = sorted({a["name"] for r in requests for a in self._derived_of(r)})
        if derived or draw.chance(0.3):
            devices["constraints"] = self._constraints(names, derived)
        if draw.chance(0.25):
            devices["config"] = [opaque(f"claim {index}") | self._scope(names) for index in range(draw.number(1, 2))]
        metadata = {"name": f"claim-{number}", "namespace": "default", "uid": f"claim-{number}"}
        return {"apiVersion": API_VERSION, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}

    def _scope(self, names: list[str]) -> JSON:
        chosen = self._draw.some(names, 0, 2)
        return {"requests": chosen} if chosen else {}

    @staticmethod
    def _names(requests: list[JSON]) -> list[str]:
        names = [request["name"] for request in requests]
        return names + [f"{r['name']}/{sub['name']}" for r in requests for sub in r.get("firstAvailable", ())]

    @staticmethod
    def _derived_of(request: JSON) -> list[JSON]:
        parts = request.get("firstAvailable") or [request["exactly"]]
        return [attribute for part in parts for attribute in part.get("derivedAttributes", ())]

    def _constraints(self, names: list[str], derived: list[str]) -> list[JSON]:
        draw = self._draw
        attributes = derived + (draw.some(self._attributes, 0 if derived else 1, 1 if draw.chance(0.8) else 2))
        kinds = ["matchAttribute", "matchAttribute", "distinctAttribute"]
        return [{draw.one(kinds): attribute} | self._scope(names) for attribute in attributes]

    def _request(self, name: str) -> JSON:
        draw = self._draw
        if "alternatives" in self._aspects and draw.chance(0.4):
            return {
                "name": name,
                "firstAvailable": [{"name": f"s{index}"} | self._body() for index in range(draw.number(1, 3))],
            }
        body = self._body()
        if "admin" in self._aspects and draw.chance(0.3):
            body["adminAccess"] = True
        return {"name": name, "exactly": body}

    def _body(self) -> JSON:
        draw = self._draw
        body: JSON = {"deviceClassName": draw.weighted(self._classes)}
        if draw.chance(0.12):
            body["allocationMode"] = "All"
        else:
            count = draw.weighted({1: 120, 2: 40, 3: 15, 4: 4, 17: 1})
            if CROWD in self._aspects:
                count = draw.number(1, 7)
            body |= {"allocationMode": "ExactCount", "count": count}
        if texts := self._selectors():
            body["selectors"] = [cel(text) for text in texts]
        if "taints" in self._aspects and draw.chance(0.3):
            body["tolerations"] = draw.some(TOLERATIONS, 1, 2)
        if "shared" in self._aspects and draw.chance(0.5):
            amounts = ["1", "2", "3", "4", "1500m"] if "fractional" in self._aspects else ["1", "2", "3", "4", "5"]
            body["capacity"] = {"requests": {key: draw.one(amounts) for key in draw.some(["mem", "slots"], 1, 2)}}
        if "derived" in self._aspects and draw.chance(0.4):
            name = draw.one(["derived.example.com/group", "a.example.com/numa"])
            body["derivedAttributes"] = [{"name": name, "expression": draw.one(DERIVED)}]
        return body

    def _selectors(self) -> list[str]:
        draw = self._draw
        if draw.chance(0.72):
            return []
        if draw.chance(0.1):
            return [draw.one(FAILING)]
        usable = MODELS + (SHARED_SELECTORS if "shared" in self._aspects else [])
        return draw.some(usable, 1, 1 if draw.chance(0.8) else 2)
