"""An embedded API server with faults in front of it, a claim and pods: what tests of writers start from."""

from __future__ import annotations

import itertools
import random
from typing import Any

from dra_api.references import POD, RESOURCE_CLAIM
from dra_embedded.server import EmbeddedServer
from dra_embedded.virtual_time import VirtualClock
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import Served, Version
from dra_scheduler.writes.claim_writer import ClaimWriter
from support.faulty import Faulty

NS = "default"
CURRENT = Version(1, 37)
CLAIM = RESOURCE_CLAIM.path(namespace=NS, name="gpu")


def allocation(device: str = "gpu-0", node: str = "node-1", **result: Any) -> dict[str, Any]:
    """A `status.allocation` with one device."""
    return {
        "devices": {
            "results": [{"request": "r", "driver": "gpu.example.com", "pool": node, "device": device, **result}]
        },
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
        },
    }


class World:
    """`server` is for what others do, `faulty` is what the tested writer talks to."""

    def __init__(self, clock: VirtualClock, version: Version = CURRENT) -> None:
        self.clock = clock
        self.server = EmbeddedServer(clock, random.Random(1))
        self.faulty = Faulty(self.server)
        self.others = Api(self.server)
        self.api = Api(self.faulty)
        self.random = random.Random(2)
        self.may_write = True
        self._serial = itertools.count()
        self.served = Served("v1", "v1", version, f"v{version}.0", frozenset({"resourceclaims"}))

    def claims(self) -> ClaimWriter:
        return ClaimWriter(self.api, self.served, self.clock, self.random, lambda: self.may_write)

    async def claim(self, name: str = "gpu") -> dict[str, Any]:
        spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
        body = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name},
            "spec": spec,
        }
        return await self.others.create(RESOURCE_CLAIM.path(namespace=NS), body)

    async def pod(self, name: str = "pod") -> dict[str, Any]:
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "registry.example.com/c"}]},
        }
        return await self.others.create(POD.path(namespace=NS), body)

    async def live(self, path: str = CLAIM) -> dict[str, Any]:
        return await self.others.get(path)

    async def change_status(self, status: dict[str, Any], path: str = CLAIM) -> dict[str, Any]:
        """Somebody else changes a status."""
        return await self.others.patch(f"{path}/status", {"status": status})

    async def touch(self, path: str = CLAIM) -> dict[str, Any]:
        """Somebody else changes something that does not matter."""
        return await self.others.patch(path, {"metadata": {"annotations": {"touched": str(next(self._serial))}}})
