"""Which devices a node sees, in which order, and which pools are incomplete or invalid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_bench.oracle.model.bugs import Bug

JSON = dict[str, Any]
DeviceKey = tuple[str, str, str]


class AttemptFailedError(Exception):
    """The attempt ends with an error; the text says which, for people."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool as a node sees it: the slices for the node in order, and all slices of that generation."""

    driver: str
    name: str
    state: str = "usable"  # or incomplete, or invalid
    slices: tuple[JSON, ...] = ()
    everything: tuple[JSON, ...] = ()
    counters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def devices(self) -> list[tuple[JSON, JSON]]:
        """Pairs of device and slice's spec, in the order of the search."""
        return [(device, one["spec"]) for one in self.slices for device in one["spec"].get("devices", ())]

    def key(self, device: JSON) -> DeviceKey:
        """The device's name in the cluster."""
        return (self.driver, self.name, device["name"])


def node_matches(node: JSON, scope: JSON) -> bool:
    """Whether a slice's or device's nodeName, allNodes or nodeSelector admits the node. ValueError: unusable."""
    if scope.get("nodeName"):
        return bool(scope["nodeName"] == node["metadata"]["name"])
    if scope.get("allNodes"):
        return True
    terms = (scope.get("nodeSelector") or {}).get("nodeSelectorTerms", ())
    matched = [_term_matches(node, term) for term in terms]  # all of them: a later one may be unusable
    return any(matched)


def _term_matches(node: JSON, term: JSON) -> bool:
    labels = node["metadata"].get("labels", {})
    fields = {"metadata.name": node["metadata"]["name"]}
    parts = [(labels, r) for r in term.get("matchExpressions", ())] + [(fields, r) for r in term.get("matchFields", ())]
    held = [_requirement_holds(values, requirement) for values, requirement in parts]
    return bool(held) and all(held)


def _requirement_holds(values: Mapping[str, str], requirement: JSON) -> bool:
    present, value = requirement["key"] in values, values.get(requirement["key"], "")
    listed = requirement.get("values", [])
    holds = {
        "In": lambda: present and value in listed,
        "NotIn": lambda: not (present and value in listed),
        "Exists": lambda: present,
        "DoesNotExist": lambda: not present,
        "Gt": lambda: present and int(value) > int(listed[0]),
        "Lt": lambda: present and int(value) < int(listed[0]),
    }
    if requirement["operator"] not in holds:
        raise ValueError(f"operator {requirement['operator']}")
    return holds[requirement["operator"]]()


def device_usable_here(node: JSON, device: JSON) -> bool:
    """Per-device node selection; a selector of two terms or of an unknown operator takes the device out."""
    try:
        terms = (device.get("nodeSelector") or {}).get("nodeSelectorTerms", ())
        return len(terms) <= 1 and node_matches(node, device)
    except ValueError:
        return False


class PoolGatherer:
    """Gathers the pools of one node."""

    def __init__(self, cluster: JSON, bugs: frozenset[Bug]) -> None:
        self._node: JSON = cluster["node"]
        self._all: list[JSON] = cluster["slices"]
        self._on: Mapping[str, bool] = cluster["features"]
        self._bugs = bugs

    def gather(self) -> list[Pool]:
        """All pools with a slice for the node, in the order of the search. Raises AttemptFailedError (bug 8)."""
        for_node = [one for one in self._all if not self._ignored(one) and self._relevant(one)]
        keys = sorted({_pool_key(one) for one in for_node})
        pools = [pool for key in keys if (pool := self._pool(key, for_node)) is not None]
        return sorted(pools, key=_binds)

    def _ignored(self, one: JSON) -> bool:
        spec = one["spec"]
        if not self._on["PartitionableDevices"] and (spec.get("perDeviceNodeSelection") or spec.get("sharedCounters")):
            return True
        return self._ignored_for_groups(one)

    def _ignored_for_groups(self, one: JSON) -> bool:
        used = [c for d in one["spec"].get("devices", ()) for c in d.get("consumesCounters", ())]
        return not self._on["CompatibilityGroups"] and any(c.get("compatibilityGroups") for c in used)

    def _relevant(self, one: JSON) -> bool:
        spec = one["spec"]
        if not spec.get("perDeviceNodeSelection"):
            return node_matches(self._node, spec)
        for device in spec.get("devices", ()):
            if Bug.DEVICE_NODE_SELECTOR in self._bugs:
                try:
                    if node_matches(self._node, device):
                        return True
                except ValueError as error:
                    raise AttemptFailedError(f"device {device['name']}: {error}") from error
            elif device_usable_here(self._node, device):
                return True
        return False

    def _pool(self, key: tuple[str, str], for_node: list[JSON]) -> Pool | None:
        everything = [one for one in self._all if _pool_key(one) == key]
        seen = [one for one in for_node if _pool_key(one) == key]
        generation = max(map(_generation, seen))
        seen = [one for one in seen if _generation(one) == generation]
        count = seen[0]["spec"]["pool"]["resourceSliceCount"]
        if max(map(_generation, everything)) > generation and not (
            Bug.OLD_GENERATION in self._bugs and len(seen) == count
        ):
            return None
        current = [one for one in everything if _generation(one) == generation and not self._ignored_for_groups(one)]
        if len(seen) != count and len(current) != count:
            return Pool(*key, state="incomplete")
        return self._complete(key, seen, seen if len(seen) == count else current)

    def _complete(self, key: tuple[str, str], seen: list[JSON], current: list[JSON]) -> Pool:
        partitions = self._on["PartitionableDevices"]
        sources = [one for one in current if partitions and one["spec"].get("sharedCounters")]
        sets = [counter_set for one in sources for counter_set in one["spec"]["sharedCounters"]]
        counters = {one["name"]: {k: v["value"] for k, v in one["counters"].items()} for one in sets}
        ordered = tuple(sorted((one for one in seen if one not in sources), key=lambda one: one["metadata"]["name"]))
        pool = Pool(*key, "usable", ordered, tuple(current), counters)
        names = [device["name"] for device, _ in pool.devices()]
        if len(set(names)) < len(names):
            return Pool(*key, state="invalid")
        devices = [device for one in current if one not in sources for device in one["spec"].get("devices", ())]
        if partitions and (len(counters) < len(sets) or not all(_counters_known(d, counters) for d in devices)):
            return Pool(*key, state="invalid")
        return pool


def _counters_known(device: JSON, counters: Mapping[str, Mapping[str, str]]) -> bool:
    return all(
        used["counterSet"] in counters and {*used["counters"]} <= {*counters[used["counterSet"]]}
        for used in device.get("consumesCounters", ())
    )


def _binds(pool: Pool) -> bool:
    return any(device.get("bindingConditions") for device, _ in pool.devices())


def _pool_key(one: JSON) -> tuple[str, str]:
    return one["spec"]["driver"], one["spec"]["pool"]["name"]


def _generation(one: JSON) -> int:
    generation: int = one["spec"]["pool"]["generation"]
    return generation
