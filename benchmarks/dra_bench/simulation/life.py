"""The life of a cluster, drawn from a seed: load, faults, changes, crashes and restarts; then rest, and judgement."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from dra_api.references import find_resource
from dra_api.transport import MERGE_PATCH
from dra_bench.simulation import objects
from dra_bench.simulation.drivers import Drivers
from dra_bench.simulation.faults import Faults
from dra_bench.simulation.judge import violations
from dra_bench.simulation.state import ended, read_state
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.cluster import EmbeddedCluster
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.scheduler import Scheduler
from dra_scheduler.settings import Settings

JSON = dict[str, Any]

PAUSES = (0.0, 0.001, 0.05, 2.0, 20.0)
"""Seconds between two things that happen."""
REST = 60.0
"""Seconds without faults before the judgement: watches that were cut last come back, backoffs end."""
STEPS = (5, 60)
GATES = ("GenericWorkload", "DRAWorkloadResourceClaims", "DRANodeAllocatableResources")
SETTINGS = Settings(feature_gates=dict.fromkeys(GATES, True), binding_timeout=30)
ADMIN_LABEL = "resource.kubernetes.io/admin-access"


class Life:
    """One cluster. `log` has a line for everything that happened, with the time."""

    def __init__(self, cluster: EmbeddedCluster, clock: VirtualClock, source: random.Random) -> None:
        self.log: list[str] = []
        self._cluster = cluster
        self._clock = clock
        self._begun = clock.monotonic()
        self._source = source
        self._api = Api(cluster.transport)
        self._rate = source.choice([0.0, 0.02, 0.1, 0.25])
        self._faults = Faults(cluster.transport, source, self._rate)
        self._running: asyncio.Task[None] | None = None
        self._scheduler: Scheduler | None = None
        self._pods: list[JSON] = []
        self._gangs: list[list[JSON]] = []
        self._made = 0
        self._cordoned: set[str] = set()
        self._cards = {
            f"n{number}": (source.choice(objects.KINDS), source.randint(1, 3)) for number in range(source.randint(1, 4))
        }
        self._generation = 1
        self._rivals: list[JSON] = []
        self._drivers = Drivers(self._api, source)

    async def run(self) -> list[str]:
        """Live; returns what is wrong in the end."""
        await self._begin()
        for _ in range(self._source.randint(*STEPS)):
            await self._step()
        self._faults.calm = True
        self._faults.end_before_write = None
        if self._faults.ended.is_set():
            await self._restart()
        while self._rivals:
            await self._rival_ends()
        attaching = asyncio.create_task(self._drivers.attach_for_ever(), name="drivers")
        await asyncio.sleep(REST)
        await self._settle()
        found = list(violations(await read_state(self._api)))
        attaching.cancel()
        await asyncio.gather(attaching, return_exceptions=True)
        await self._end()
        return found

    async def _begin(self) -> None:
        labels = {"metadata": {"labels": {ADMIN_LABEL: "true"}}}
        await self._api.request("PATCH", f"/api/v1/namespaces/{objects.NAMESPACE}", labels, content_type=MERGE_PATCH)
        shared = objects.shared_claim("shared"), objects.fabric(self._source.randint(1, 3))
        for one in (*objects.classes(), *objects.templates(), *shared):
            await self._create(one)
        for name in self._cards:
            await self._create(objects.node(name))
            for one in self._slices(name):
                await self._create(one)
        await self._start()

    def _slices(self, name: str) -> list[JSON]:
        """What is published for a node."""
        kind, count = self._cards[name]
        made = [objects.nics(name), objects.cores(name), objects.cards(name, kind, count, self._generation)]
        return [*made, objects.counters(name, count, self._generation)] if kind == "partitions" else made

    async def _step(self) -> None:
        pods = [self._add_pod] * 8 + [self._add_extended] * 2 + [self._end_pod] * 3 + [self._finish_pod]
        gangs = [self._add_gang, self._add_gang, self._end_gang]
        devices = [self._republish, self._rival, self._rival_ends, self._taint, self._report, self._report]
        others = [self._cordon, self._replace_node, self._crash, self._crash_at_a_write]
        await self._source.choice(pods + gangs + devices + others)()
        await asyncio.sleep(self._source.choice(PAUSES))
        if self._faults.ended.is_set():
            await self._restart()

    async def _add_pod(self) -> None:
        self._made += 1
        name = f"p{self._made}"
        template = self._source.choice(["", *objects.ASKS])
        made = objects.pod(name, template=template) if template else objects.pod(name, claim="shared")
        self._note(f"pod {name} asks for {template or 'the shared claim'}")
        self._pods.append(made)
        await self._create(made)

    async def _add_extended(self) -> None:
        self._made += 1
        name, count = f"x{self._made}", self._source.randint(1, 2)
        self._note(f"pod {name} asks for {count} as an extended resource")
        self._pods.append(objects.extended_pod(name, count))
        await self._create(self._pods[-1])

    async def _add_gang(self) -> None:
        """A group of two or three pods: each with devices of its own, or all with one claim, theirs or the group's."""
        self._made += 1
        name, count = f"g{self._made}", self._source.randint(2, 3)
        template = self._source.choice(["", *objects.ASKS])
        claim = "" if template else f"{name}-claim"
        theirs = self._source.random() < 0.5
        made = objects.group(name, count, "" if theirs else claim)
        pods = [objects.pod(f"{name}-{i}", template=template, claim=claim) for i in range(count)]
        self._note(f"gang {name} of {count} asks for {template or 'one claim'}")
        parts = [made, *(objects.member(made, pod) for pod in pods)]
        if claim:
            parts.append(objects.shared_claim(claim))
        self._source.shuffle(parts)
        self._gangs.append(parts)
        for one in parts:
            await self._create(one)
            await asyncio.sleep(self._source.choice([0.0, 0.0, 0.05]))

    async def _end_gang(self) -> None:
        """All of it is deleted, in any order."""
        if self._gangs:
            parts = self._gangs.pop(self._source.randrange(len(self._gangs)))
            self._note(f"gang {parts[0]['metadata']['name'].partition('-')[0]} is deleted")
            for one in parts:
                await self._delete(one)

    async def _end_pod(self) -> None:
        if self._pods:
            pod = self._pods.pop(self._source.randrange(len(self._pods)))
            self._note(f"pod {pod['metadata']['name']} is deleted")
            await self._delete(pod)

    async def _finish_pod(self) -> None:
        """A pod that runs ends by itself; it stays until it is deleted."""
        pods = (await read_state(self._api)).pods.values()
        running = [pod for pod in pods if pod.get("status", {}).get("phase") == "Running"]
        kubelet = self._cluster.kubelet
        if running and kubelet is not None:
            name = self._source.choice(running)["metadata"]["name"]
            self._note(f"pod {name} ends")
            kubelet.finish(objects.NAMESPACE, name)

    async def _taint(self) -> None:
        self._note(await self._drivers.taint())

    async def _report(self) -> None:
        for text in await self._drivers.report(0.3):
            self._note(text)

    async def _replace_node(self) -> None:
        """A node goes, and its pods after it; one of the same name comes."""
        name = self._source.choice(sorted(self._cards))
        self._note(f"node {name} is deleted")
        for one in (objects.node(name), *self._slices(name)):
            await self._delete(one)
        await asyncio.sleep(self._source.choice([0.0, 0.1, 5.0]))
        for pod in (await read_state(self._api)).pods.values():
            if pod["spec"].get("nodeName") == name and not ended(pod):
                await self._delete({"apiVersion": "v1", "kind": "Pod", **pod})
        self._note(f"node {name} is there again")
        self._cordoned.discard(name)
        for one in (objects.node(name), *self._slices(name)):
            await self._create(one)

    async def _cordon(self) -> None:
        name = self._source.choice(sorted(self._cards))
        self._cordoned ^= {name}
        closed = name in self._cordoned
        self._note(f"node {name} is {'closed' if closed else 'opened'}")
        await self._patch(objects.node(name), {"spec": {"unschedulable": closed}})

    async def _republish(self) -> None:
        """A driver publishes its pool anew: other cards, taints, the same or a new generation, slice by slice."""
        name = self._source.choice(sorted(self._cards))
        kind, _ = self._cards[name]
        count = self._source.randint(1, 3)
        self._cards[name] = kind, count
        self._generation += self._source.choice([0, 1])
        cards = objects.cards(name, kind, count, self._generation)
        tainted = frozenset(d["name"] for d in cards["spec"]["devices"] if self._source.random() < 0.2)
        published = [objects.cards(name, kind, count, self._generation, tainted)]
        if kind == "partitions":
            published.insert(self._source.randint(0, 1), objects.counters(name, count, self._generation))
        self._note(f"pool of {name}: {count} {kind} cards, generation {self._generation}, tainted {sorted(tainted)}")
        for one in published:
            await self._patch(one, {"spec": _replacing(one["spec"])})
            await asyncio.sleep(self._source.choice([0.0, 0.1, 5.0]))

    async def _rival(self) -> None:
        """Another scheduler takes a device that it thinks is free: ours may be writing the same at this moment."""
        state = await read_state(self._api)
        held = {hold.key for hold in state.holds()}
        free = [key for key in sorted(state.published()) if key not in held and key[0] == objects.GPU]
        if not free:
            return
        self._made += 1
        claim = objects.shared_claim(f"rival-{self._made}")
        self._rivals.append(claim)
        await self._create(claim)
        await asyncio.sleep(self._source.choice([0.0, 0.01]))
        device = self._source.choice(free)
        self._note(f"a rival takes {'/'.join(device)}")
        result = {"request": "r", **dict(zip(("driver", "pool", "device"), device, strict=True))}
        status = {"allocation": {"devices": {"results": [result]}}}
        await self._api.request("PATCH", f"{_path(claim)}/status", {"status": status}, content_type=MERGE_PATCH)

    async def _rival_ends(self) -> None:
        if self._rivals:
            claim = self._rivals.pop()
            self._note(f"{claim['metadata']['name']} is deleted")
            await self._delete(claim)

    async def _crash(self) -> None:
        self._note("the scheduler crashes")
        await self._restart()

    async def _crash_at_a_write(self) -> None:
        self._faults.end_before_write = self._source.randint(0, 6)
        self._note(f"the scheduler will crash after {self._faults.end_before_write} more writes")

    async def _restart(self) -> None:
        """End the scheduler as a crash does, and start the next one over a way of its own."""
        await self._kill()
        await asyncio.sleep(self._source.choice([0.0, 1.0]))
        calm = self._faults.calm
        self._faults = Faults(self._cluster.transport, self._source, self._rate)
        await self._start(calm=calm)

    async def _start(self, *, calm: bool = False) -> None:
        """Start a scheduler. Faults begin once it has had its first answers: until then it is started again anyway."""
        self._note("a scheduler starts")
        self._faults.calm = True
        source = random.Random(self._source.getrandbits(32))
        self._scheduler = Scheduler(self._faults, SETTINGS, self._clock, source)
        self._running = asyncio.create_task(self._scheduler.run(asyncio.Event()), name="scheduler")
        await asyncio.sleep(0.01)
        self._faults.calm = calm

    async def _kill(self) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        (result,) = await asyncio.gather(running, return_exceptions=True)
        if isinstance(result, Exception):
            raise result

    async def _settle(self) -> None:
        scheduler, running = self._scheduler, self._running
        assert scheduler is not None
        assert running is not None
        await self._cluster.settle(lambda: running.done() or scheduler.idle())
        if running.done():
            running.result()

    async def _end(self) -> None:
        await self._kill()

    async def _create(self, obj: JSON) -> None:
        await self._api.request("POST", _path(obj).rpartition("/")[0], obj)

    async def _delete(self, obj: JSON) -> None:
        """Delete what may have gone already: with its node, say."""
        try:
            await self._api.request("DELETE", _path(obj))
        except RefusedError as error:
            if error.status != 404:
                raise

    async def _patch(self, obj: JSON, change: JSON) -> None:
        await self._api.request("PATCH", _path(obj), change, content_type=MERGE_PATCH)

    def _note(self, text: str) -> None:
        self.log.append(f"{self._clock.monotonic() - self._begun:10.3f} s  {text}")


def live(seed: int) -> tuple[list[str], list[str]]:
    """Live the life of a seed; returns what is wrong in the end, and what happened."""

    async def play(clock: VirtualClock) -> tuple[list[str], list[str]]:
        source = random.Random(seed)
        async with EmbeddedCluster(clock, random.Random(seed)) as cluster:
            life = Life(cluster, clock, source)
            return await life.run(), life.log

    return run_virtual(play)


def _replacing(spec: JSON) -> JSON:
    """A merge patch for a slice's spec; lists are replaced as a whole."""
    return {key: value for key, value in spec.items() if key in ("pool", "devices", "sharedCounters")}


def _path(obj: JSON) -> str:
    resource = find_resource(obj["apiVersion"], obj["kind"])
    assert resource is not None
    meta = obj["metadata"]
    namespace = meta.get("namespace", "") if resource.namespaced else ""
    return resource.path(namespace=namespace, name=meta["name"], version=obj["apiVersion"].rpartition("/")[2])
