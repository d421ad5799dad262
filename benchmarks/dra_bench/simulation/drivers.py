"""What drivers and administrators do with devices that have been published: attach them, taint them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

from dra_api.references import DEVICE_TAINT_RULE, RESOURCE_CLAIM
from dra_api.transport import MERGE_PATCH
from dra_bench.simulation import objects
from dra_bench.simulation.state import allocation, read_state
from dra_embedded.clients.api import Api, RefusedError

JSON = dict[str, Any]
PAUSE = 3.0
"""Seconds between two looks of a driver."""


class Drivers:
    """Works on one cluster."""

    def __init__(self, api: Api, source: random.Random) -> None:
        self._api = api
        self._source = source
        self._rules: set[str] = set()

    async def report(self, broken: float) -> list[str]:
        """Say of the devices that wait to be attached that they are, or that they are broken; return what was said."""
        said = []
        for name, claim in (await read_state(self._api)).claims.items():
            told = []
            for result in _unreported(claim):
                condition = objects.BROKEN if self._source.random() < broken else objects.ATTACHED
                told.append(_told(result, condition))
                said.append(f"{result['device']} of claim {name} is {condition}")
            if told and not await self._write(name, [*(claim["status"].get("devices") or ()), *told]):
                said.append(f"claim {name} has changed meanwhile")
        return said

    async def attach_for_ever(self) -> None:
        """Attach whatever waits, again and again."""
        while True:
            await self.report(0.0)
            await asyncio.sleep(PAUSE)

    async def taint(self) -> str:
        """Add a taint rule for a gpu, or take one away; return what was done."""
        if self._rules and self._source.random() < 0.5:
            name = self._source.choice(sorted(self._rules))
            self._rules.remove(name)
            await self._api.request("DELETE", DEVICE_TAINT_RULE.path(name=name, version="v1"))
            return f"taint rule {name} is deleted"
        published = sorted((await read_state(self._api)).published())
        _, pool, device = self._source.choice([key for key in published if key[0] == objects.GPU])
        rule = objects.taint_rule(pool, device)
        name = rule["metadata"]["name"]
        if name in self._rules:
            return f"taint rule {name} is there already"
        self._rules.add(name)
        await self._api.request("POST", DEVICE_TAINT_RULE.path(version="v1"), rule)
        return f"taint rule {name} is created"

    async def _write(self, name: str, devices: list[JSON]) -> bool:
        path = RESOURCE_CLAIM.path(namespace=objects.NAMESPACE, name=name)
        change = {"status": {"devices": devices}}
        try:
            await self._api.request("PATCH", f"{path}/status", change, content_type=MERGE_PATCH)
        except RefusedError:
            return False  # deallocated, or gone
        return True


def _unreported(claim: JSON) -> Iterator[JSON]:
    """Yield the results with conditions of which nothing has been said."""
    told = {_key(device) for device in (claim.get("status") or {}).get("devices") or ()}
    for result in allocation(claim):
        if result.get("bindingConditions") and _key(result) not in told:
            yield result


def _key(one: JSON) -> tuple[str, str, str]:
    return one["driver"], one["pool"], one["device"]


def _told(result: JSON, condition: str) -> JSON:
    entry = {"type": condition, "status": "True", "reason": "Driver", "message": ""}
    device = dict(zip(("driver", "pool", "device"), _key(result), strict=True))
    return {**device, "conditions": [{**entry, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
