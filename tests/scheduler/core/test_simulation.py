"""A long random life of a cluster: load, faults, crashes, changes; then rest, and everything must be right."""

import asyncio
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from support.chaos import Chaos
from support.invariants import check_invariants
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template

NODES = 3
DEVICES = 2


class Life:
    """Draws what happens next from the seed."""

    def __init__(self, stage: Stage, source: random.Random) -> None:
        self.stage = stage
        self.source = source
        self.transport = Chaos(stage.transport, source, 0.0)
        self.pods: list[Raw] = []
        self.number = 0
        self.cordoned: set[str] = set()
        self.devices = {f"n{i}": DEVICES for i in range(NODES)}

    async def begin(self) -> None:
        names = list(self.devices)
        await self.stage.create(*map(node, names), device_class(), template(), claim("shared"))
        await self.stage.create(*(resource_slice(name, DEVICES) for name in names))
        await self.stage.start(self.transport)
        await self.stage.settle()
        self.transport.rate = self.source.choice([0.0, 0.02, 0.1])

    async def step(self) -> None:
        happens = self.source.choice([self.add_pod] * 5 + [self.end_pod] * 3 + [self.cordon, self.resize, self.crash])
        await happens()
        await asyncio.sleep(self.source.choice([0.0, 0.001, 0.05, 2.0]))

    async def add_pod(self) -> None:
        self.number += 1
        name = f"p{self.number}"
        made = pod(name, claim="shared") if self.source.random() < 0.25 else pod(name, template="gpu")
        self.pods.append(made)
        await self.stage.create(made)

    async def end_pod(self) -> None:
        if self.pods:
            await self.stage.delete(self.pods.pop(self.source.randrange(len(self.pods))))

    async def cordon(self) -> None:
        name = self.source.choice(sorted(self.devices))
        self.cordoned ^= {name}
        await self.stage.patch(node(name), {"spec": {"unschedulable": name in self.cordoned}})

    async def resize(self) -> None:
        name = self.source.choice(sorted(self.devices))
        self.devices[name] = self.source.choice([1, 2, 3])
        wanted = resource_slice(name, self.devices[name])
        await self.stage.patch(wanted, {"spec": {"devices": wanted["spec"]["devices"]}})

    async def crash(self) -> None:
        await self.stage.kill()
        await asyncio.sleep(self.source.choice([0.0, 1.0]))
        # Whoever runs a scheduler starts it again until it gets its first answer; that is not tried here.
        self.transport.calm = True
        await self.stage.start(self.transport)
        await asyncio.sleep(0.01)
        self.transport.calm = False

    async def rest(self) -> None:
        self.transport.calm = True
        await asyncio.sleep(30)
        await self.stage.settle()

    async def check(self) -> None:
        await check_invariants(self.stage)
        pods, claims = await self.stage.pods(), await self.stage.claims()
        assert set(pods) == {made["metadata"]["name"] for made in self.pods}
        held = [
            (result["pool"], result["device"])
            for found in claims.values()
            for result in ((found.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results", [])
        ]
        free = {
            name: count - sum(pool == name and int(device.rpartition("-")[2]) < count for pool, device in held)
            for name, count in self.devices.items()
            if name not in self.cordoned
        }
        for name, found in pods.items():
            if not found["spec"].get("nodeName"):
                self.check_waits_rightly(name, found, claims, free)

    def check_waits_rightly(self, name: str, found: Raw, claims: dict[str, Raw], free: dict[str, int]) -> None:
        """A pod without a node: its claim has no device, and there is none; or the claim's node is closed."""
        entry = found["spec"]["resourceClaims"][0]
        generated = {s["name"]: s["resourceClaimName"] for s in found["status"].get("resourceClaimStatuses", [])}
        claimed = claims[entry.get("resourceClaimName") or generated[entry["name"]]]
        allocation = (claimed.get("status") or {}).get("allocation")
        if allocation is None:
            assert not any(free.values()), f"pod {name} waits although there is a device: {free}"
        else:
            (result,) = allocation["devices"]["results"]
            assert result["pool"] in self.cordoned, f"pod {name} waits although its claim is ready"


def live(seed: int, steps: int) -> None:
    async def play(stage: Stage) -> None:
        life = Life(stage, random.Random(seed))
        await life.begin()
        for _ in range(steps):
            await life.step()
        await life.rest()
        await life.check()

    on_stage(play, start=False, seed=seed)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 40))
def test_after_any_life_the_cluster_comes_to_a_good_rest(seed: int, steps: int) -> None:
    live(seed, steps)
