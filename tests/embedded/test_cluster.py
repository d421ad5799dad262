from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from dra_api.references import Resource
from dra_api.transport import MERGE_PATCH, Request
from dra_embedded.cluster import EmbeddedCluster, NotSettledError
from dra_embedded.errors import EmbeddedUsageError
from dra_embedded.virtual_time import VirtualClock, run_virtual
from support.contract import DRA, Object, Server, allocation, claim, pod, reservation, template

FINALIZER = "resource.kubernetes.io/delete-protection"
RUN_SECONDS = "kubelet.dra-scheduler/run-seconds"
EXIT_CODE = "kubelet.dra-scheduler/exit-code"

Scenario = Callable[[EmbeddedCluster, Server, VirtualClock], Awaitable[Any]]


def play(scenario: Scenario, seed: int = 1) -> Any:
    async def main(clock: VirtualClock) -> Any:
        async with EmbeddedCluster(clock, random.Random(seed)) as cluster:
            server = Server(cluster.transport, "embedded", "default")
            await server.create("/api/v1/nodes", {"metadata": {"name": "node-1", "labels": {"zone": "a"}}})
            return await scenario(cluster, server, clock)

    return run_virtual(main)


async def bind(server: Server, name: str = "pod", node: str = "node-1") -> None:
    await server.create(f"{server.pods}/{name}/binding", {"metadata": {"name": name}, "target": {"name": node}})


async def phase(server: Server, name: str = "pod") -> str:
    return str((await server.get(f"{server.pods}/{name}"))["status"]["phase"])


async def allocate(server: Server, name: str, *consumers: Object, selector: Object | None = None) -> None:
    await server.merge(f"{server.claims}/{name}", {"metadata": {"finalizers": [FINALIZER]}})
    wanted = allocation() if selector is None else {**allocation(), "nodeSelector": selector}
    status = {"allocation": wanted, "reservedFor": [reservation(each) for each in consumers]}
    await server.merge(f"{server.claims}/{name}/status", {"status": status})


def test_a_bound_pod_runs_with_ready_containers() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> Object:
        await server.create(server.pods, pod())
        await cluster.settle()
        assert await phase(server) == "Pending"
        await bind(server)
        await cluster.settle()
        return (await server.get(f"{server.pods}/pod"))["status"]

    status = play(scenario)
    assert status["phase"] == "Running"
    conditions = {each["type"]: each["status"] for each in status["conditions"]}
    assert conditions["PodScheduled"] == conditions["Ready"] == conditions["ContainersReady"] == "True"
    (container,) = status["containerStatuses"]
    assert (container["name"], container["ready"], container["restartCount"]) == ("main", True, 0)
    assert container["state"]["running"]["startedAt"]
    assert status["qosClass"] == "BestEffort"


def test_a_pod_waits_until_its_claims_are_allocated_and_reserved_for_it() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> list[str]:
        await server.create(server.claims, claim())
        made = await server.create(server.pods, pod(claims=[{"name": "gpu", "resourceClaimName": "claim"}]))
        await bind(server)
        await cluster.settle()
        assert cluster.kubelet is not None
        seen = [cluster.kubelet.obstacles()["default/pod"], await phase(server)]
        await allocate(server, "claim", made)
        await cluster.settle()
        assert cluster.kubelet.obstacles() == {}
        return [*seen, await phase(server)]

    assert play(scenario) == ["ResourceClaim claim is not allocated", "Pending", "Running"]


@pytest.mark.parametrize("zone", ["a", "b"])
def test_a_pod_does_not_start_on_a_node_that_its_claim_is_not_allocated_for(zone: str) -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> str:
        await server.create(server.claims, claim())
        made = await server.create(server.pods, pod(claims=[{"name": "gpu", "resourceClaimName": "claim"}]))
        term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
        await allocate(server, "claim", made, selector={"nodeSelectorTerms": [term]})
        await bind(server)
        await cluster.settle()
        return await phase(server)

    assert play(scenario) == ("Running" if zone == "a" else "Pending")


def test_a_pod_bound_to_a_node_that_comes_later_starts_then() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> list[str]:
        await server.create(server.pods, pod())
        await bind(server, node="node-2")
        await cluster.settle()
        before = await phase(server)
        await server.create("/api/v1/nodes", {"metadata": {"name": "node-2"}})
        await cluster.settle()
        return [before, await phase(server)]

    assert play(scenario) == ["Pending", "Running"]


@pytest.mark.parametrize(
    ("policy", "code", "expected"),
    [("Never", 0, "Succeeded"), ("Never", 3, "Failed"), ("OnFailure", 0, "Succeeded"), ("Always", 0, "Running")],
)
def test_containers_end_as_the_annotations_say(policy: str, code: int, expected: str) -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> list[str]:
        body = pod(restartPolicy=policy)
        body["metadata"]["annotations"] = {RUN_SECONDS: "10", EXIT_CODE: str(code)}
        await server.create(server.pods, body)
        await bind(server)
        await asyncio.sleep(9)
        before = await phase(server)
        await asyncio.sleep(2)
        return [before, await phase(server)]

    assert play(scenario) == ["Running", expected]


def test_restarted_containers_are_counted() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> int:
        body = pod(restartPolicy="OnFailure")
        body["metadata"]["annotations"] = {RUN_SECONDS: "10", EXIT_CODE: "1"}
        await server.create(server.pods, body)
        await bind(server)
        await asyncio.sleep(35)
        status = (await server.get(f"{server.pods}/pod"))["status"]
        return int(status["containerStatuses"][0]["restartCount"])

    assert play(scenario) == 3


def test_a_running_pod_can_be_told_to_finish() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> str:
        assert cluster.kubelet is not None
        await server.create(server.pods, pod(restartPolicy="Never"))
        with pytest.raises(EmbeddedUsageError, match="default/pod is not running"):
            cluster.kubelet.finish("default", "pod")
        await bind(server)
        await cluster.settle()
        cluster.kubelet.finish("default", "pod", exit_code=2)
        await cluster.settle()
        return await phase(server)

    assert play(scenario) == "Failed"


def test_a_deleted_pod_is_ended_and_removed_and_its_claim_freed() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> None:
        await server.create(server.templates, template())
        entry = {"name": "gpu", "resourceClaimTemplateName": "template"}
        made = await server.create(server.pods, pod(claims=[entry]))
        await cluster.settle()
        statuses = (await server.get(f"{server.pods}/pod"))["status"]["resourceClaimStatuses"]
        await allocate(server, statuses[0]["resourceClaimName"], made)
        await bind(server)
        await cluster.settle()
        assert await phase(server) == "Running"
        async with server.watch(server.pods, resourceVersion=await server.version()) as events:
            await server.delete(f"{server.pods}/pod")
            await cluster.settle()
            phases = []
            for _ in range(4):
                kind, seen = await events.next()
                phases.append((kind, seen["status"]["phase"]))
        assert phases[0] == ("MODIFIED", "Running")
        assert phases[1] == ("MODIFIED", "Succeeded")
        assert phases[-1] == ("DELETED", "Succeeded")
        assert (await server.get(server.pods))["items"] == []
        assert (await server.get(server.claims))["items"] == []

    play(scenario)


def test_a_shared_claim_is_freed_by_the_last_of_its_pods() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> list[bool]:
        await server.create(server.claims, claim())
        entry = {"name": "gpu", "resourceClaimName": "claim"}
        pods = [await server.create(server.pods, pod(name, claims=[entry])) for name in ("one", "two")]
        await allocate(server, "claim", *pods)
        allocated = []
        for name in ("one", "two"):
            await bind(server, name)
        for name in ("one", "two"):
            await cluster.settle()
            allocated.append("allocation" in (await server.get(f"{server.claims}/claim"))["status"])
            await server.delete(f"{server.pods}/{name}")
        await cluster.settle()
        allocated.append("allocation" in (await server.get(f"{server.claims}/claim"))["status"])
        return allocated

    assert play(scenario) == [True, True, False]


def test_any_kind_can_be_registered_and_is_collected_and_listed() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> None:
        kind = Resource("Gadget", "gadgets", "example.com", ("v1alpha1",), namespaced=True)
        cluster.server.register(kind)
        path = "/apis/example.com/v1alpha1/namespaces/default/gadgets"
        created = await server.create(path, {"metadata": {"name": "g"}, "spec": {"size": 3}, "extra": [1]})
        assert created["apiVersion"] == "example.com/v1alpha1"
        assert created["extra"] == [1]
        changed = await server.merge(f"{path}/g", {"spec": {"size": 4}})
        assert changed["spec"] == {"size": 4}
        with pytest.raises(EmbeddedUsageError, match="needs another plural"):
            cluster.server.register(Resource("Widget", "gadgets", "example.com", ("v1alpha1",), namespaced=True))
        resources = (await server.get("/apis/example.com/v1alpha1"))["resources"]
        assert [each["name"] for each in resources] == ["gadgets", "gadgets/status"]

    play(scenario)


def test_settling_gives_up_on_what_never_comes_to_rest() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> None:
        with pytest.raises(NotSettledError, match="still busy after 20 s"):
            await cluster.settle(lambda: False, limit=20)

    play(scenario)


def test_a_controller_that_died_is_heard_of() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> None:
        def broken(*_: object) -> None:
            raise LookupError("a bug")

        cluster.claim_controller._pods._handler = broken
        await server.create(server.pods, pod(claims=[{"name": "gpu", "resourceClaimName": "claim"}]))
        await cluster.settle()

    with pytest.raises(ExceptionGroup) as caught:
        play(scenario)
    assert caught.group_contains(LookupError, match="a bug")


def busy_week(seed: int) -> bytes:
    """Pods come, are allocated, bound, run and go; what the API holds in the end."""

    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> bytes:
        drawn = random.Random(seed)
        await server.create(server.templates, template())
        entry = {"name": "gpu", "resourceClaimTemplateName": "template"}
        for number in range(30):
            body = pod(f"p{number}", claims=[entry], restartPolicy="Never")
            body["metadata"]["annotations"] = {RUN_SECONDS: str(drawn.choice([1, 5, 60, 3600]))}
            made = await server.create(server.pods, body)
            await cluster.settle()
            statuses = (await server.get(f"{server.pods}/p{number}"))["status"]["resourceClaimStatuses"]
            await allocate(server, statuses[0]["resourceClaimName"], made)
            await bind(server, f"p{number}")
            await asyncio.sleep(drawn.random() * 10)
            if drawn.random() < 0.3:
                victim = f"{server.pods}/p{drawn.randint(0, number)}"
                await server.call("DELETE", victim)
        await cluster.settle()
        bodies = []
        for path in (server.pods, f"{DRA}/resourceclaims"):
            bodies.append((await cluster.transport.send(Request("GET", path))).body)
        return b"\n".join(bodies)

    return bytes(play(scenario, seed))


def test_the_same_seed_gives_the_same_cluster_to_the_byte() -> None:
    first = busy_week(4)
    assert busy_week(4) == first
    assert busy_week(5) != first
    pods = orjson.loads(first.split(b"\n")[0])["items"]
    assert {each["status"]["phase"] for each in pods} >= {"Running", "Succeeded"}


def test_conditions_of_others_survive_the_kubelet() -> None:
    async def scenario(cluster: EmbeddedCluster, server: Server, clock: VirtualClock) -> set[str]:
        await server.create(server.pods, pod())
        mine = {"type": "example.com/mine", "status": "True"}
        body = orjson.dumps({"status": {"conditions": [mine]}})
        await cluster.transport.send(Request("PATCH", f"{server.pods}/pod/status", {}, body, MERGE_PATCH))
        await bind(server)
        await cluster.settle()
        return {each["type"] for each in (await server.get(f"{server.pods}/pod"))["status"]["conditions"]}

    assert {"example.com/mine", "PodScheduled", "Ready"} <= play(scenario)


def test_a_deployment_says_that_nothing_will_come_of_it() -> None:
    async def scenario(_cluster: EmbeddedCluster, server: Server, _clock: VirtualClock) -> None:
        path = "/apis/apps/v1/namespaces/default/deployments"
        created = await server.create(path, {"metadata": {"name": "web"}, "spec": {"replicas": 1}})
        assert created["status"]["observedGeneration"] == 1
        assert "no controllers for workloads" in created["status"]["conditions"][0]["message"]
        changed = await server.merge(f"{path}/web", {"spec": {"replicas": 2}})
        assert (changed["metadata"]["generation"], changed["status"]["observedGeneration"]) == (2, 2)
        await server.merge(f"{path}/web/status", {"status": {"conditions": None, "readyReplicas": 1}})
        changed = await server.merge(f"{path}/web", {"spec": {"replicas": 3}})
        assert changed["status"] == {"observedGeneration": 2, "readyReplicas": 1}, "somebody else's"

    play(scenario)
