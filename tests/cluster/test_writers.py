"""The writers and the reflector against a real API server, under our own role."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import yaml

from dra_api.references import POD, RESOURCE_CLAIM
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_scheduler.client.api import Api
from dra_scheduler.client.connection import connect
from dra_scheduler.client.credentials import FixedCredentials, Secret
from dra_scheduler.client.discovery import Served, Version, discover
from dra_scheduler.client.errors import ConflictError, ForbiddenError, UnauthorizedError
from dra_scheduler.client.http_transport import Endpoint, HttpTransport
from dra_scheduler.client.reflector import Reflector
from dra_scheduler.system_clock import SystemClock
from dra_scheduler.writes.binding_writer import BindingWriter
from dra_scheduler.writes.claim_writer import ClaimWriter
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.errors import AnswerDiffersError, BindingPermissionError, BindLostError, ClaimLostError
from dra_scheduler.writes.event_writer import EventWriter
from dra_scheduler.writes.refs import ClaimRef, PodRef

CLOCK = SystemClock()
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def api(scheduler_transport: HttpTransport) -> Api:
    return Api(scheduler_transport)


@pytest.fixture
async def served(api: Api) -> Served:
    return await discover(api)


@pytest.fixture
def claims(api: Api, served: Served) -> ClaimWriter:
    return ClaimWriter(api, served, CLOCK, random.Random(1))


def make_claim(admin: Client, namespace: str, **request: Any) -> dict[str, Any]:
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", **request}}]}}
    answer = admin.request("POST", RESOURCE_CLAIM.path(namespace=namespace), {"metadata": {"name": "c"}, "spec": spec})
    assert answer.status == 201, answer.message
    return dict(answer.body)


def make_pod(admin: Client, namespace: str, name: str = "p") -> dict[str, Any]:
    spec = {"schedulerName": "nobody-s", "containers": [{"name": "c", "image": "none"}]}
    answer = admin.request("POST", POD.path(namespace=namespace), {"metadata": {"name": name}, "spec": spec})
    assert answer.status == 201, answer.message
    return dict(answer.body)


def allocation(**result: Any) -> dict[str, Any]:
    device = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0", **result}
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    return {"devices": {"results": [device]}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": fields}]}}


async def until(done: Callable[[], bool]) -> None:
    for _ in iter(done, True):
        await asyncio.sleep(0.05)


async def ended(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_it_is_discovered_what_the_server_serves(served: Served) -> None:
    assert (served.resource_version, served.taint_rule_version) == ("v1", "v1")
    assert (served.server, served.git_version) == (Version(1, 37), "v1.37.2")


async def test_a_claim_is_allocated_joined_left_and_deallocated(
    admin: Client, namespace: str, claims: ClaimWriter
) -> None:
    claim, one, two = make_claim(admin, namespace), make_pod(admin, namespace), make_pod(admin, namespace, "q")
    full = allocation(
        tolerations=[{"key": "k", "effect": "NoSchedule"}],
        consumedCapacity={"memory": "1024Mi"},
        shareID=str(uuid.uuid4()),
        bindingConditions=["attached"],
        bindingFailureConditions=["broken"],
    )
    answer = await claims.allocate_and_reserve(claim, full, PodRef.of(one))
    assert answer["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert answer["status"]["allocation"]["allocationTimestamp"]
    answer = await claims.allocate_and_reserve(claim, full, PodRef.of(two))  # stale: conflict, read, joined
    assert len(answer["status"]["reservedFor"]) == 2
    ref = ClaimRef.of(claim)
    await claims.unreserve(ref, PodRef.of(one).uid)
    free = await claims.unreserve(ref, PodRef.of(two).uid)
    assert free is not None
    assert "reservedFor" not in free["status"]
    deallocated = await claims.deallocate(free)
    assert deallocated is not None
    assert "allocation" not in deallocated.get("status", {})


async def test_another_allocation_is_not_overwritten(admin: Client, namespace: str, claims: ClaimWriter) -> None:
    claim, one, two = make_claim(admin, namespace), make_pod(admin, namespace), make_pod(admin, namespace, "q")
    await claims.allocate_and_reserve(claim, allocation(), PodRef.of(one))
    with pytest.raises(ClaimLostError, match="allocated otherwise"):
        await claims.allocate_and_reserve(claim, allocation() | {"nodeSelector": None}, PodRef.of(two))


async def test_a_gated_field_is_dropped_by_the_server_and_undone_by_us(
    admin: Client, namespace: str, claims: ClaimWriter
) -> None:
    claim, pod = make_claim(admin, namespace), make_pod(admin, namespace)
    with pytest.raises(AnswerDiffersError) as caught:
        await claims.allocate_and_reserve(claim, allocation(skipNodeOperations=["*"]), PodRef.of(pod))
    assert caught.value.gate == "DRAOptionalNodeOperations"
    live = admin.request("GET", RESOURCE_CLAIM.path(namespace=namespace, name="c")).body
    assert live.get("status", {}) == {}


@pytest.fixture
async def without_binding(admin: Client, control_plane: ControlPlane) -> AsyncIterator[Api]:
    """A user who has our role without the rule on resourceclaims/binding."""
    documents = yaml.safe_load_all(rbac_manifest().read_text())
    ours = next(d for d in documents if d["kind"] == "ClusterRole" and d["metadata"]["name"] == "dra-scheduler")
    rules = [rule for rule in ours["rules"] if rule["resources"] != ["resourceclaims/binding"]]
    name = f"without-binding-{uuid.uuid4().hex[:8]}"
    group = "rbac.authorization.k8s.io"
    binding = {
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "nobody"}],
    }
    for kind, spec in (("clusterroles", {"rules": rules}), ("clusterrolebindings", binding)):
        answer = admin.request("POST", f"{RBAC}/{kind}", {"metadata": {"name": name}, **spec})
        assert answer.status == 201, answer.message
    async with await connect(str(control_plane.kubeconfig("nobody")), None, CLOCK) as transport:
        api = Api(transport)
        for _ in range(100):  # the API server learns of roles by a watch of its own
            try:
                await api.list(RESOURCE_CLAIM.path())
                break
            except ForbiddenError:
                await asyncio.sleep(0.1)
        yield api
    for kind in ("clusterrolebindings", "clusterroles"):
        admin.request("DELETE", f"{RBAC}/{kind}/{name}")


async def test_the_missing_permission_to_bind_claims_is_named(
    admin: Client, namespace: str, without_binding: Api, served: Served
) -> None:
    claim, pod = make_claim(admin, namespace), make_pod(admin, namespace)
    writer = ClaimWriter(without_binding, served, CLOCK, random.Random(1))
    with pytest.raises(BindingPermissionError, match="ClusterRoleBinding"):
        await writer.allocate_and_reserve(claim, allocation(), PodRef.of(pod))


async def test_a_pod_is_bound_once_and_found_bound_afterwards(admin: Client, namespace: str, api: Api) -> None:
    admin.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    pod, writer = PodRef.of(make_pod(admin, namespace)), BindingWriter(api, random.Random(1))
    assert not (await writer.bind(pod, "n1")).looked_up
    assert (await writer.bind(pod, "n1")).looked_up
    with pytest.raises(BindLostError, match="is bound to node n1, not n2"):
        await writer.bind(pod, "n2")
    with pytest.raises(BindLostError, match="created anew"):
        await writer.bind(PodRef(namespace, "p", str(uuid.uuid4())), "n1")
    with pytest.raises(BindLostError, match="deleted"):
        await writer.bind(PodRef(namespace, "nobody", pod.uid), "n1")


async def test_conditions_nominations_and_events_are_taken(admin: Client, namespace: str, api: Api) -> None:
    pod = make_pod(admin, namespace)
    ref = PodRef.of(pod)
    conditions = ConditionWriter(api, CLOCK, random.Random(1))
    events = EventWriter(api, CLOCK, random.Random(1), controller="dra-scheduler", instance="dra-scheduler-0")
    tasks = [asyncio.create_task(conditions.run()), asyncio.create_task(events.run())]
    conditions.set_unscheduled(pod, "Unschedulable", "0/1 nodes are available.")
    for _ in range(3):
        events.record(ref, "Warning", "FailedScheduling", "Scheduling", "no device")
    async with asyncio.timeout(20):
        await until(lambda: not conditions.waiting and not events.waiting)
    await conditions.nominate(ref, "n1")
    await ended(*tasks)
    assert (conditions.failed, events.failed) == (0, 0)
    status = admin.request("GET", POD.path(namespace=namespace, name="p")).body["status"]
    assert status["nominatedNodeName"] == "n1"
    [condition] = status["conditions"]
    assert (condition["status"], condition["message"]) == ("False", "0/1 nodes are available.")
    [event] = admin.request("GET", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events").body["items"]
    assert event["series"]["count"] == 3


async def test_stale_writes_and_bad_tokens_are_told_apart(
    admin: Client, namespace: str, api: Api, scheduler_transport: HttpTransport
) -> None:
    make_claim(admin, namespace)
    path = RESOURCE_CLAIM.path(namespace=namespace, name="c")
    stale = {"metadata": {"resourceVersion": "1", "annotations": {"a": "b"}}}
    with pytest.raises(ConflictError):
        await api.patch(path, stale)
    endpoint: Endpoint = scheduler_transport.endpoint
    async with HttpTransport(endpoint, FixedCredentials(Secret("Bearer wrong")), CLOCK) as transport:
        with pytest.raises(UnauthorizedError):
            await discover(Api(transport))


class Names:
    def __init__(self) -> None:
        self.present: dict[str, str] = {}

    def apply(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        meta = (new or old or {})["metadata"]
        if new is None:
            del self.present[meta["name"]]
        else:
            self.present[meta["name"]] = meta["resourceVersion"]


async def test_a_reflector_keeps_up_with_pages_and_changes(
    admin: Client, namespace: str, scheduler_transport: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dra_scheduler.client.listing.FIRST_LIMIT", 2)
    for number in range(5):
        make_pod(admin, namespace, f"p-{number}")
    names = Names()
    query = {"fieldSelector": f"metadata.namespace={namespace}"}
    reflector = Reflector(scheduler_transport, POD, names, CLOCK, random.Random(1), query=query)
    task = asyncio.create_task(reflector.run())
    async with asyncio.timeout(20):
        await reflector.synced.wait()
    assert len(names.present) == 5
    make_pod(admin, namespace, "late")
    admin.request("DELETE", POD.path(namespace=namespace, name="p-0"), {"gracePeriodSeconds": 0})
    async with asyncio.timeout(20):
        await until(lambda: names.present.keys() == {"p-1", "p-2", "p-3", "p-4", "late"})
    assert reflector.lists == 1
    await ended(task)
