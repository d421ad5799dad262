"""Bind tasks when others interfere: rivals, conflicts, lost answers, dropped fields, devices that get ready late."""

import asyncio

from dra_api.transport import Request
from dra_scheduler.settings import Settings
from support.faulty import Faulty, status
from support.invariants import check_invariants
from support.objects import make_allocation
from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template

CLAIM_STATUS = "PATCH /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/"
BINDING = "POST /api/v1/namespaces/default/pods/p/binding"


def on_faulty_stage(play: object, settings: Settings | None = None) -> None:
    """`play(stage, transport)` with a scheduler that sees the cluster through a Faulty transport."""

    async def begin(stage: Stage) -> None:
        transport = Faulty(stage.transport)
        await stage.create(node("n0"), node("n1"), device_class(), template(), claim("c"), claim("rival"))
        await stage.create(resource_slice("n0", 1), resource_slice("n1", 1))
        await stage.start(transport)
        await stage.settle()
        await play(stage, transport)  # type: ignore[operator]

    on_stage(begin, settings, start=False)


async def runs(stage: Stage, name: str = "p") -> Raw:
    await stage.settle()
    await check_invariants(stage)
    found = await stage.pod(name)
    assert found["status"]["phase"] == "Running"
    return found


async def allocate(stage: Stage, name: str, device: str, at: str, *users: Raw) -> None:
    """What another scheduler would write."""
    wanted = {"allocation": make_allocation(device, node=at) | {"allocationTimestamp": "2025-12-31T00:00:00Z"}}
    reserved = [{"resource": "pods", "name": u["metadata"]["name"], "uid": u["metadata"]["uid"]} for u in users]
    meta = {"finalizers": ["resource.kubernetes.io/delete-protection"]}
    await stage.patch(claim(name), {"metadata": meta})
    await stage.patch(claim(name), {"status": wanted | ({"reservedFor": reserved} if reserved else {})}, "status")


def test_a_binding_whose_answer_is_lost_is_looked_up() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        transport.fail(BINDING, executed=True)
        await stage.create(pod("p", claim="c"))
        await runs(stage)
        assert len(transport.sent(BINDING)) == 1
        assert len(await stage.events("Scheduled")) == 1

    on_faulty_stage(play)


def test_everything_stays_assumed_while_the_outcome_of_the_binding_is_unknown() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        transport.fail(BINDING, executed=True)
        for _ in range(40):
            transport.fail("GET /api/v1/namespaces/default/pods/p")
        await stage.create(pod("p", claim="c"))
        await asyncio.sleep(3)
        scheduler = stage.scheduler
        assert scheduler is not None
        uid = (await stage.pod("p"))["metadata"]["uid"]
        assert scheduler.cluster.claims.get("default", "c") is not None
        assert not scheduler.idle()
        transport.faults.clear()
        found = await runs(stage)
        assert found["metadata"]["uid"] == uid

    on_faulty_stage(play)


def test_a_refused_binding_takes_back_the_reservation_and_is_tried_again() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        transport.fail(BINDING, status(403, "Forbidden", "pods/binding is forbidden"))
        await stage.create(pod("p", claim="c"))
        await asyncio.sleep(0.5)
        status_, reason, message = await stage.condition("p")
        assert (status_, reason) == ("False", "SchedulerError")
        assert "pods/binding is forbidden" in message
        assert not (await stage.claims())["c"]["status"].get("reservedFor")
        await runs(stage)

    on_faulty_stage(play)


def test_a_claim_allocated_by_somebody_else_meanwhile_is_taken_as_it_is() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        transport.meanwhile(CLAIM_STATUS, lambda: allocate(stage, "c", "gpu-0-0", "n1"))
        await stage.create(pod("p", claim="c"))
        found = await runs(stage)
        assert found["spec"]["nodeName"] == "n1"

    on_faulty_stage(play)


def test_of_two_claims_on_one_device_the_later_one_gives_way_and_says_so() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        async def rival() -> None:
            written = (await stage.claims())["c"]["metadata"]["name"]
            assert written == "c"
            await allocate(stage, "rival", "gpu-0-0", "n0")

        pinned = pod("p", claim="c", nodeSelector={"kubernetes.io/hostname": "n0"})
        transport.meanwhile(f"{CLAIM_STATUS}c/status", rival)
        await stage.create(pinned)
        await stage.settle()
        assert (await stage.pod("p"))["spec"].get("nodeName") is None
        assert (await stage.claims())["c"]["status"].get("allocation") is None
        notes = [event["note"] for event in await stage.events("FailedScheduling")]
        assert any("device gpu.example.com/n0/gpu-0-0 is allocated to ResourceClaim default/rival" in n for n in notes)
        scheduler = stage.scheduler
        assert scheduler is not None
        assert scheduler.counts.contested == 1
        # The rival gives the device back: the pod gets it.
        await stage.patch(claim("rival"), {"status": {"allocation": None}}, "status")
        await runs(stage)

    on_faulty_stage(play)


def test_a_field_that_the_server_drops_keeps_the_pod_from_being_bound() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        def dropped(request: Request) -> Request:
            body = (request.body or b"").replace(b'"gpu-0-0"', b'"gpu-0-1"')
            return Request(request.method, request.path, request.query, body, request.content_type)

        transport.rewrite(f"{CLAIM_STATUS}c/status", dropped)
        await stage.create(pod("p", claim="c"))
        await asyncio.sleep(0.5)
        _, reason, message = await stage.condition("p")
        assert reason == "SchedulerError"
        assert "the API server changed status.allocation" in message
        await runs(stage)

    on_faulty_stage(play)


def test_a_pod_deleted_before_its_binding_leaves_its_claim_free() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        transport.meanwhile(BINDING, lambda: stage.delete(pod("p")))
        await stage.create(pod("p", claim="c"))
        await stage.settle()
        await check_invariants(stage)
        assert not (await stage.claims())["c"]["status"].get("reservedFor")
        await stage.create(pod("q", claim="c"))
        await runs(stage, "q")

    on_faulty_stage(play)


def test_a_pod_deleted_while_it_is_unknown_whether_its_claim_was_allocated_keeps_its_device_until_it_is_known() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        for _ in range(40):
            transport.fail("resourceclaims/c/status")
            transport.fail("GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c")
        on_n0 = {"kubernetes.io/hostname": "n0"}
        await stage.create(pod("p", claim="c", nodeSelector=on_n0))
        await asyncio.sleep(1)
        await stage.delete(pod("p"))
        await stage.create(pod("q", claim="rival", nodeSelector=on_n0))
        await asyncio.sleep(20)
        assert "allocation" not in ((await stage.claims())["rival"].get("status") or {})
        # The first of them was only late.
        await stage.transport.send(transport.sent("resourceclaims/c/status")[0])
        assert (await stage.claims())["c"]["status"]["allocation"]
        transport.faults.clear()
        # It was allocated after all, and reserved for nobody who is there: that is taken back, and q gets the device.
        await stage.settle(30)
        await runs(stage, "q")
        assert stage.scheduler is not None
        assert stage.scheduler.counts.contested == 0
        assert not (await stage.claims())["c"]["status"].get("reservedFor")

    on_faulty_stage(play)


def test_a_refusal_while_an_earlier_write_may_still_be_carried_out_gives_no_device_back() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        for _ in range(5):
            transport.fail("resourceclaims/c/status")
        for _ in range(100):
            transport.fail("resourceclaims/c/status", status(403, "Forbidden"))
        on_n0 = {"kubernetes.io/hostname": "n0"}
        await stage.create(pod("p", claim="c", nodeSelector=on_n0), pod("q", claim="rival", nodeSelector=on_n0))
        await asyncio.sleep(30)
        assert await stage.nodes_of_pods() == {"p": "", "q": ""}
        await stage.transport.send(transport.sent("resourceclaims/c/status")[0])
        transport.faults.clear()
        await runs(stage, "p")
        assert len(await stage.events("Scheduled")) == 1

    on_faulty_stage(play)


def test_a_refusal_is_told_once_no_earlier_write_can_be_carried_out_any_more() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        for _ in range(5):
            transport.fail("resourceclaims/c/status")
        for _ in range(100):
            transport.fail("resourceclaims/c/status", status(403, "Forbidden", "no rights"))
        on_n0 = {"kubernetes.io/hostname": "n0"}
        await stage.create(pod("p", claim="c", nodeSelector=on_n0), pod("q", claim="rival", nodeSelector=on_n0))
        await asyncio.sleep(90)
        assert any("no rights" in event["note"] for event in await stage.events("FailedScheduling"))
        assert (await stage.nodes_of_pods())["q"] == "n0"

    on_faulty_stage(play)


def attached(at: str, **conditions: str) -> Raw:
    """The status that a driver reports for the device."""
    listed = [
        {"type": name, "status": value, "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for name, value in conditions.items()
    ]
    device = {"driver": "gpu.example.com", "pool": at, "device": "fabric-0", "conditions": listed}
    return {"status": {"devices": [device]}}


def fabric() -> Raw:
    made = resource_slice("n2", 1)
    made["spec"]["devices"] = [
        {"name": "fabric-0", "bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
    ]
    return made


def on_fabric(play: object, settings: Settings | None = None) -> None:
    async def begin(stage: Stage, transport: Faulty) -> None:
        await stage.create(node("n2"), fabric())
        await stage.create(pod("p", claim="c", nodeSelector={"kubernetes.io/hostname": "n2"}))
        await asyncio.sleep(1)
        await play(stage, transport)  # type: ignore[operator]

    on_faulty_stage(begin, settings)


def test_a_pod_is_bound_only_when_its_devices_binding_conditions_are_true() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        status_ = (await stage.claims())["c"]["status"]
        assert status_["reservedFor"]
        assert status_["allocation"]["devices"]["results"][0]["bindingConditions"] == ["Attached"]
        (shown,) = stage.scheduler.pending() if stage.scheduler else []
        assert shown.reason == "waiting for the binding conditions of its devices"
        waiting = await stage.pod("p")
        assert waiting["spec"].get("nodeName") is None
        assert waiting["status"]["nominatedNodeName"] == "n2"
        await stage.patch(claim("c"), attached("n2", Attached="True"), "status")
        await runs(stage)

    on_fabric(play)


def test_conditions_that_come_true_while_the_nomination_is_written_are_not_missed() -> None:
    async def begin(stage: Stage, transport: Faulty) -> None:
        await stage.create(node("n2"), fabric())
        change = attached("n2", Attached="True")
        transport.meanwhile(
            "PATCH /api/v1/namespaces/default/pods/p/status", lambda: stage.patch(claim("c"), change, "status")
        )
        await stage.create(pod("p", claim="c", nodeSelector={"kubernetes.io/hostname": "n2"}))
        await asyncio.sleep(5)
        assert (await stage.pod("p"))["spec"].get("nodeName") == "n2"

    on_faulty_stage(begin)


def test_a_true_failure_condition_voids_the_allocation() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        await stage.patch(claim("c"), attached("n2", Broken="True"), "status")
        await asyncio.sleep(5)
        assert (await stage.pod("p"))["spec"].get("nodeName") is None
        notes = [event["note"] for event in await stage.events("FailedScheduling")]
        assert any("device binding failed: claim=c, reason=" in note for note in notes)
        assert any("deallocation of ResourceClaim completed" in note for note in notes)

    on_fabric(play)


def test_waiting_for_binding_conditions_ends_with_the_time_out() -> None:
    async def play(stage: Stage, transport: Faulty) -> None:
        await asyncio.sleep(30)
        notes = [event["note"] for event in await stage.events("FailedScheduling")]
        assert "device binding timeout: claim=default/c" in notes

    on_fabric(play, Settings(binding_timeout=20))
