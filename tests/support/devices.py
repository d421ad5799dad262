"""Small builders for the allocator's tests: a cluster in a few lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from dra_allocator.allocator import Allocator
from dra_allocator.claim import Constraint, DeviceClass, DeviceRequest, OpaqueConfig, ResourceClaim
from dra_allocator.device import (
    CapacityPolicy,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceID,
    NodeScope,
    ResourceSlice,
)
from dra_allocator.features import Features
from dra_allocator.ledger import Ledger
from dra_allocator.node import Node
from dra_allocator.outcome import AllocationResult, DeviceResult, Outcome
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_cel.quantity import Quantity

DRIVER = "gpu.example.com"
CLASS = "gpu"
ANY = NodeScope(all_nodes=True)


class Calls:
    """A budget of so many questions; None: never exhausted."""

    def __init__(self, calls: int | None = None) -> None:
        self.left = calls

    def exhausted(self) -> bool:
        if self.left is None:
            return False
        self.left -= 1
        return self.left < 0


def counters(counter_set: str, groups: Sequence[str] = (), **amounts: int) -> CounterConsumption:
    return CounterConsumption(
        counter_set, {name: Quantity.from_int(value) for name, value in amounts.items()}, tuple(groups)
    )


def counter_set(name: str, **amounts: int) -> CounterSet:
    return CounterSet(name, {key: Quantity.from_int(value) for key, value in amounts.items()})


def capacity(value: str, policy: CapacityPolicy | None = None, published: str = "memory") -> DeviceCapacity:
    return DeviceCapacity(Quantity.parse(value), policy, published)


def device(name: str, memory: str | None = None, policy: CapacityPolicy | None = None, **fields: object) -> Device:
    """A device; keyword arguments that `Device` does not know are attributes of the driver's domain."""
    known = {key: value for key, value in fields.items() if key in Device.__slots__}
    attributes = {f"{DRIVER}/{key}": value for key, value in fields.items() if key not in Device.__slots__}
    amounts = {} if memory is None else {f"{DRIVER}/memory": capacity(memory, policy)}
    return Device(**{"name": name, "attributes": attributes, "capacity": amounts, **known})  # type: ignore[arg-type]


def resource_slice(
    name: str,
    devices: Iterable[Device] = (),
    *,
    node: str | None = None,
    scope: NodeScope | None = None,
    pool: str | None = None,
    driver: str = DRIVER,
    **fields: object,
) -> ResourceSlice:
    """A complete pool of one slice, unless said otherwise; local to the node, or with the given scope."""
    values: dict[str, object] = {"generation": 1, "slice_count": 1, "resource_version": "1", **fields}
    return ResourceSlice(
        name=name,
        driver=driver,
        pool=pool or node or "pool",
        scope=NodeScope(node_name=node) if node else scope,
        devices=tuple(devices),
        **values,  # type: ignore[arg-type]
    )


def request(name: str = "r", count: int = 1, **fields: object) -> DeviceRequest:
    values: dict[str, object] = {"device_class": CLASS, **fields}
    return DeviceRequest(name=name, count=count, **values)  # type: ignore[arg-type]


def match(attribute: str, *requests: str) -> Constraint:
    return Constraint(requests, "match", f"{DRIVER}/{attribute}")


def distinct(attribute: str, *requests: str) -> Constraint:
    return Constraint(requests, "distinct", f"{DRIVER}/{attribute}")


def claim(
    *requests: DeviceRequest,
    name: str = "claim",
    constraints: Iterable[Constraint] = (),
    config: Iterable[OpaqueConfig] = (),
) -> ResourceClaim:
    return ResourceClaim(
        uid=f"uid-{name}",
        namespace="default",
        name=name,
        requests=requests or (request(),),
        constraints=tuple(constraints),
        config=tuple(config),
    )


def holding(*names: str, pool: str, share_id: str | None = None, **consumed: str) -> AllocationResult:
    """What a claim has that holds these devices of a pool."""
    amounts: Mapping[str, Quantity] = {key: Quantity.parse(value) for key, value in consumed.items()}
    return AllocationResult(
        tuple(
            DeviceResult("r", DeviceID(DRIVER, pool, name), share_id=share_id, consumed_capacity=amounts)
            for name in names
        )
    )


class Cluster:
    """Table, ledger and allocator with one class for all devices of `DRIVER`."""

    def __init__(self, *slices: ResourceSlice, nodes: Sequence[str] = ("n1",), features: Features | None = None):
        self.table = Table()
        self.ledger = Ledger()
        self.features = features or Features.all_on()
        ids = itertools.count(1)
        self.allocator = Allocator(share_ids=lambda: f"share-{next(ids)}")
        self.table.apply_class(DeviceClass(CLASS))
        self.nodes = list(nodes)
        for name in nodes:
            self.table.apply_node(Node(name))
        for one in slices:
            self.table.apply_slice(one)

    @property
    def view(self) -> View:
        return View(self.table, self.ledger, self.features)

    def allocate(self, *claims: ResourceClaim, slices_of: int | None = None, view: View | None = None) -> Outcome:
        """Step until there is an outcome; each step may ask its budget `slices_of` times."""
        attempt = self.allocator.allocate(view or self.view, claims or (claim(),), self.nodes)
        while (outcome := attempt.step(Calls(slices_of))) is None:
            pass
        return outcome


def picked(outcome: Outcome) -> list[list[str]]:
    """The device names per claim of an Allocation."""
    assert hasattr(outcome, "claims"), outcome
    return [[one.device.device for one in allocation.result.devices] for allocation in outcome.claims]
