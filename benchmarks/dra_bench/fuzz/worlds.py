"""A damaged cluster, decoded: what cannot be read is left out, as the scheduler does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dra_allocator.claim import DeviceClass, ResourceClaim
from dra_allocator.device import DeviceTaintRule, ResourceSlice
from dra_allocator.features import Features
from dra_allocator.ledger import Ledger
from dra_allocator.node import Node
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_api import decode
from dra_api.errors import DecodeError
from dra_bench.conformance.allocator_input import held_results, read_features

JSON = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class World:
    """What of a cluster can be read, in a table and a ledger."""

    slices: tuple[ResourceSlice, ...]
    claims: tuple[ResourceClaim, ...]
    node: Node
    table: Table
    ledger: Ledger
    features: Features

    @property
    def view(self) -> View:
        """The present state."""
        return View(self.table, self.ledger, self.features)


def readable(objects: Iterable[Any], decoder: Callable[[object], T]) -> list[T]:
    """Decode objects; those that cannot be read are left out."""
    made = []
    for obj in objects if isinstance(objects, list) else ():
        try:
            made.append(decoder(obj))
        except DecodeError:
            continue
    return made


def read_world(data: JSON) -> World:
    """Build what a cluster in the form of the allocator cases describes. The node must be readable."""
    table, ledger = Table(), Ledger()
    node = decode.node(data["node"])
    table.apply_node(node)
    classes: list[DeviceClass] = readable(data.get("classes") or [], decode.device_class)
    for one in classes:
        table.apply_class(one)
    rules: list[DeviceTaintRule] = readable(data.get("rules") or [], decode.taint_rule)
    for rule in rules:
        table.apply_taint_rule(rule)
    read = readable(data.get("slices") or [], decode.resource_slice)
    # The API server has one object of a name; the damage may have made others, or taken the name away.
    slices = tuple(replace(one, name=f"{number:03}-{one.name}") for number, one in enumerate(read))
    for published in slices:
        table.apply_slice(published)
    for number, result in enumerate(held_results(data)):
        ledger.observe(f"held-{number}", result)
    asked = readable(data.get("claimsToAllocate") or [], decode.resource_claim)
    claims = tuple(replace(one, uid=f"claim-{number}") for number, one in enumerate(asked))
    return World(slices, claims, node, table, ledger, read_features(data))
