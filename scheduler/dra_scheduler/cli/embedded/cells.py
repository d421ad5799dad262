"""The devices of a cluster, each with who holds it, and whether a partition of the same device is in the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dra_api.quantity import Quantity
from dra_scheduler.cli.embedded.scene import Scene
from dra_scheduler.cli.loading import Object

_NUMBER = re.compile(r"(\d+)")
Key = tuple[str, str, str]
Counter = tuple[str, str, str, str]
"""(driver, pool, counter set, counter)"""


@dataclass(frozen=True, slots=True)
class Cell:
    """A device.

    `holders`: pods as `namespace/name`, or claims without one; `blocked`: no counters left; `group`: the counter set
    that it draws on, which partitions of one device have in common.
    """

    name: str
    holders: tuple[str, ...] = ()
    blocked: bool = False
    tainted: bool = False
    group: str = ""

    @property
    def free(self) -> bool:
        """Whether a pod may still get it."""
        return not (self.holders or self.blocked or self.tainted)


@dataclass(slots=True)
class Row:
    """The devices in one place: a node, or what several nodes see."""

    place: str
    cells: list[Cell] = field(default_factory=list)

    @property
    def used(self) -> int:
        """Devices that somebody holds."""
        return sum(bool(cell.holders) for cell in self.cells)

    @property
    def free(self) -> int:
        """Devices that may still be had."""
        return sum(cell.free for cell in self.cells)


def rows(scene: Scene) -> list[Row]:
    """Every node with its devices, then the places of devices that several nodes see."""
    holders = _holders(scene.claims)
    left = _left(scene.slices, holders)
    found = {node["metadata"]["name"]: Row(node["metadata"]["name"]) for node in scene.nodes}
    for spec, device in _devices(scene.slices):
        place = _place(spec, device)
        driver, pool = spec["driver"], spec["pool"]["name"]
        held = tuple(holders.get((driver, pool, device["name"]), ()))
        blocked = not held and any(amount > left.get(key, Quantity.from_int(0)) for key, amount in _drawn(spec, device))
        consumed = device.get("consumesCounters") or [{}]
        group = str(consumed[0].get("counterSet", ""))
        cell = Cell(device["name"], held, blocked, bool(device.get("taints")), group)
        found.setdefault(place, Row(place)).cells.append(cell)
    return sorted(
        found.values(), key=lambda row: [int(part) if part.isdigit() else part for part in _NUMBER.split(row.place)]
    )


def _place(spec: Object, device: Object) -> str:
    scope = {**spec, **device} if spec.get("perDeviceNodeSelection") else spec
    return str(scope.get("nodeName") or ("(all nodes)" if scope.get("allNodes") else "(some nodes)"))


def _devices(slices: Iterable[Object]) -> Iterator[tuple[Object, Object]]:
    for published in slices:
        for device in published["spec"].get("devices") or []:
            yield published["spec"], device


def _holders(claims: Iterable[Object]) -> dict[Key, list[str]]:
    found: dict[Key, list[str]] = {}
    for claim in claims:
        metadata, status = claim["metadata"], claim.get("status") or {}
        names = [f"{metadata['namespace']}/{pod['name']}" for pod in status.get("reservedFor") or []]
        for result in ((status.get("allocation") or {}).get("devices") or {}).get("results") or []:
            if not result.get("adminAccess"):
                key = (result["driver"], result["pool"], result["device"])
                found.setdefault(key, []).extend(names or [f"{metadata['namespace']}/{metadata['name']}"])
    return found


def _drawn(spec: Object, device: Object) -> Iterator[tuple[Counter, Quantity]]:
    """What a device takes from the counters of its pool."""
    for consumed in device.get("consumesCounters") or []:
        for name, counter in (consumed.get("counters") or {}).items():
            key = (spec["driver"], spec["pool"]["name"], consumed["counterSet"], name)
            yield key, Quantity.parse(str(counter["value"]))


def _left(slices: Iterable[Object], holders: dict[Key, list[str]]) -> dict[Counter, Quantity]:
    """What the held devices leave of each counter."""
    slices = list(slices)
    left: dict[Counter, Quantity] = {}
    for published in slices:
        spec = published["spec"]
        for counters in spec.get("sharedCounters") or []:
            for name, counter in counters["counters"].items():
                key = (spec["driver"], spec["pool"]["name"], counters["name"], name)
                left[key] = Quantity.parse(str(counter["value"]))
    for spec, device in _devices(slices):
        if (spec["driver"], spec["pool"]["name"], device["name"]) in holders:
            for key, amount in _drawn(spec, device):
                left[key] = left.get(key, Quantity.from_int(0)).sub(amount)
    return left
