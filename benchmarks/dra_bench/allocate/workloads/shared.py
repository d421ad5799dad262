"""shared: devices whose memory is handed out in shares, a thousand shares in use (KEP-5075).

shared-none: no device has as much left as is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Hold, Scenario, Size, Workload
from dra_bench.allocate.workloads.plain import SEED

JSON = dict[str, Any]
SHARES = 1000
_POLICY = {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi", "max": "80Gi"}}


def _slices(devices: int, number: int) -> Sequence[JSON]:
    capacity = {"memory": {"value": "80Gi", "requestPolicy": _POLICY}}
    found = [objects.gpu(at, capacity=capacity, allowMultipleAllocations=True) for at in range(devices)]
    return [objects.resource_slice(number, found)]


def _claim(memory: str) -> JSON:
    return objects.claim(objects.request(capacity={"requests": {"memory": memory}}))


def _share(random: Random, node: int, device: int, memory: str) -> tuple[Hold, ...]:
    share = str(UUID(int=random.getrandbits(128), version=4))
    return (Hold(node, f"gpu-{device}", share, {"memory": memory}),)


def _shared(size: Size) -> Scenario:
    """Fill devices from the first on, four shares of 20Gi to each: they have no room left and cannot be ruled out."""
    random = Random(SEED)
    places = [(node, device) for node in range(size.nodes) for device in range(size.devices) for _ in range(4)]
    holds = tuple(_share(random, node, device, "20Gi") for node, device in places[:SHARES])
    return Scenario(size, partial(_slices, size.devices), (_claim("30Gi"),), holds)


def _none(size: Size) -> Scenario:
    random = Random(SEED)
    everywhere = [(node, device) for node in range(size.nodes) for device in range(size.devices)]
    holds = tuple(_share(random, node, device, "60Gi") for node, device in everywhere)
    slices = partial(_slices, size.devices)
    return Scenario(size, slices, (_claim("30Gi"),), holds, turnover="none", fits=False)


WORKLOADS = (
    Workload("shared", "30Gi of devices that are shared, 1,000 shares in use", _shared),
    Workload("shared-none", "30Gi of devices that have 20Gi left each: no node fits", _none),
)
