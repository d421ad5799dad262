from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_api.references import FINALIZER
from dra_api.transport import MERGE_PATCH, Request, Response
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.discovery import Version
from dra_scheduler.client.errors import ForbiddenError
from dra_scheduler.writes.errors import (
    AnswerDiffersError,
    BindingPermissionError,
    ClaimLostError,
    NotWriterError,
    UnknownOutcomeError,
)
from dra_scheduler.writes.refs import ClaimRef, PodRef
from support.faulty import Fault, status
from support.writing import CLAIM, World, allocation

STATUS = f"PATCH {CLAIM}/status"
SHARE = "3f0d6a43-c7a9-4a4d-b2a3-14ee7dd7a5b2"


def body(request: Request) -> dict[str, Any]:
    decoded: dict[str, Any] = orjson.loads(request.body)
    return decoded


def test_a_new_allocation_is_a_finalizer_and_then_one_status_write_that_follows_its_resource_version() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        answer = await world.claims().allocate_and_reserve(claim, allocation(), pod)
        finalizer, written = world.faulty.requests
        assert (finalizer.method, finalizer.path, finalizer.content_type) == ("PATCH", CLAIM, MERGE_PATCH)
        version = claim["metadata"]["resourceVersion"]
        assert body(finalizer) == {"metadata": {"resourceVersion": version, "finalizers": [FINALIZER]}}
        assert (written.method, written.path, written.content_type) == ("PATCH", f"{CLAIM}/status", MERGE_PATCH)
        assert int(body(written)["metadata"]["resourceVersion"]) > int(version)
        assert body(written)["status"] == {
            "reservedFor": [{"resource": "pods", "name": "pod", "uid": pod.uid}],
            "allocation": allocation() | {"allocationTimestamp": "2030-01-01T00:00:00Z"},
        }
        assert answer == await world.live()

    run_virtual(main)


def test_servers_before_1_34_get_no_allocation_timestamp() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock, Version(1, 33))
        await world.claims().allocate_and_reserve(await world.claim(), allocation(), PodRef.of(await world.pod()))
        assert body(world.faulty.requests[-1])["status"]["allocation"] == allocation()

    run_virtual(main)


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_older_versions_take_the_same_bodies_and_the_answer_comes_as_v1(version: str) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        world.served = replace(world.served, resource_version=version)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        answer = await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert all(f"/{version}/" in request.path for request in world.faulty.requests)
        assert answer == await world.live()

    run_virtual(main)


def test_a_second_pod_only_adds_its_reservation_and_no_timestamp() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        first, second = PodRef.of(await world.pod("one")), PodRef.of(await world.pod("two"))
        claim = await world.claims().allocate_and_reserve(await world.claim(), allocation(), first)
        world.faulty.requests.clear()
        await world.claims().allocate_and_reserve(claim, None, second)
        [written] = world.faulty.requests
        assert list(body(written)["status"]) == ["reservedFor"]
        assert [entry["uid"] for entry in body(written)["status"]["reservedFor"]] == [first.uid, second.uid]

    run_virtual(main)


def test_a_pod_that_is_reserved_already_needs_no_write() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        claim = await world.claims().allocate_and_reserve(await world.claim(), allocation(), pod)
        world.faulty.requests.clear()
        assert await world.claims().allocate_and_reserve(claim, None, pod) == claim
        assert await world.claims().allocate_and_reserve(claim, allocation(), pod) == claim
        assert world.faulty.requests == []

    run_virtual(main)


def test_reserving_a_claim_that_is_not_allocated_is_refused_before_anything_is_sent() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        with pytest.raises(ClaimLostError, match="without being allocated"):
            await world.claims().allocate_and_reserve(await world.claim(), None, PodRef("default", "pod", "u"))
        assert world.faulty.requests == []

    run_virtual(main)


@pytest.mark.parametrize("where", [f"PATCH {CLAIM}", STATUS])
@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("answer", [None, status(500), status(503, retry_after=1), status(429, retry_after=1)])
def test_a_lost_answer_is_looked_up_and_the_claim_ends_as_wanted(
    where: str, executed: bool, answer: Response | None
) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.fail(where, answer, executed=executed)
        result = await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert result == await world.live()
        assert len(result["status"]["reservedFor"]) == 1
        assert result["status"]["allocation"]["devices"] == allocation()["devices"]

    run_virtual(main)


def test_the_server_decides_how_long_to_wait() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.fail(STATUS, status(429, retry_after=3))
        await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert clock.monotonic() == pytest.approx(3)

    run_virtual(main)


def test_a_conflict_that_does_not_matter_is_written_over_with_the_new_version() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.meanwhile(f"PATCH {CLAIM}", world.touch)
        world.faulty.meanwhile(STATUS, world.touch)
        result = await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert result["metadata"]["finalizers"] == [FINALIZER]
        assert "touched" in result["metadata"]["annotations"]

    run_virtual(main)


def test_a_claim_that_a_rival_allocates_otherwise_is_lost_and_left_as_it_is() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        rival = {"allocation": allocation("gpu-7")}
        world.faulty.meanwhile(STATUS, lambda: world.change_status(rival))
        with pytest.raises(ClaimLostError, match="ResourceClaim default/gpu: allocated otherwise"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert (await world.live())["status"]["allocation"] == allocation("gpu-7")

    run_virtual(main)


ATTACHED = {"bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"shareID": SHARE}, {"shareID": SHARE.replace("3", "4")}),
        ({"shareID": SHARE, "consumedCapacity": {"m": "1Gi"}}, {"shareID": SHARE, "consumedCapacity": {"m": "2Gi"}}),
        (ATTACHED, ATTACHED | {"bindingConditions": ["powered"]}),
        ({"tolerations": [{"key": "k", "operator": "Exists"}]}, {"tolerations": [{"key": "l", "operator": "Exists"}]}),
        ({}, ATTACHED),
    ],
)
def test_what_an_earlier_process_writes_late_for_the_pod_is_no_answer_to_us(
    ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        reserved = [{"resource": "pods", "name": pod.name, "uid": pod.uid}]
        late = {"allocation": allocation(**theirs), "reservedFor": reserved}
        world.faulty.meanwhile(STATUS, lambda: world.change_status(late))
        with pytest.raises(ClaimLostError, match="ResourceClaim default/gpu: allocated otherwise"):
            await world.claims().allocate_and_reserve(claim, allocation(**ours), pod)
        assert (await world.live())["status"] == late

    run_virtual(main)


def test_a_claim_that_somebody_allocates_to_the_same_device_is_joined() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod, other = await world.claim(), PodRef.of(await world.pod()), PodRef.of(await world.pod("other"))
        theirs = [{"resource": "pods", "name": other.name, "uid": other.uid}]
        same = {"allocation": allocation(), "reservedFor": theirs}
        world.faulty.meanwhile(STATUS, lambda: world.change_status(same))
        result = await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert [entry["uid"] for entry in result["status"]["reservedFor"]] == [other.uid, pod.uid]

    run_virtual(main)


def test_a_claim_deallocated_before_our_pod_joins_is_lost() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        await world.claim()
        claim = await world.change_status({"allocation": allocation()})
        world.faulty.meanwhile(STATUS, lambda: world.change_status({"allocation": None}))
        with pytest.raises(ClaimLostError, match="deallocated meanwhile"):
            await world.claims().allocate_and_reserve(claim, None, pod)

    run_virtual(main)


def test_a_claim_deleted_meanwhile_or_created_anew_is_lost() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.meanwhile(f"PATCH {CLAIM}", lambda: world.others.delete(CLAIM))
        with pytest.raises(ClaimLostError, match="deleted meanwhile"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        await world.claim()
        with pytest.raises(ClaimLostError, match="created anew"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)

    run_virtual(main)


def test_a_claim_in_deletion_is_not_allocated() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.meanwhile(STATUS, lambda: world.others.delete(CLAIM))  # our finalizer keeps it
        with pytest.raises(ClaimLostError, match="is being deleted"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)

    run_virtual(main)


def test_endless_conflicts_send_the_pod_back_to_the_queue() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        for _ in range(10):
            world.faulty.meanwhile(f"PATCH {CLAIM}", world.touch)
        with pytest.raises(ClaimLostError, match="changed 4 times"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)

    run_virtual(main)


def test_without_any_answer_nothing_is_concluded() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        for _ in range(20):
            world.faulty.fail(CLAIM)
        with pytest.raises(UnknownOutcomeError, match="cannot be read after a failed write"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)

    run_virtual(main)


@pytest.mark.parametrize(
    ("field", "value", "gate"),
    [
        ("bindingConditions", ["attached"], "DRADeviceBindingConditions"),
        ("bindingFailureConditions", ["broken"], "DRADeviceBindingConditions"),
        ("shareID", SHARE, "DRAConsumableCapacity"),
        ("adminAccess", True, "DRAAdminAccess"),
        ("tolerations", [{"key": "k", "operator": "Exists"}], "DRADeviceTaints"),
        ("skipNodeOperations", ["*"], "DRAOptionalNodeOperations"),
    ],
)
def test_a_field_that_the_server_drops_silently_is_undone_and_its_gate_named(
    field: str, value: object, gate: str
) -> None:
    def drop(request: Request) -> Request:
        sent = body(request)
        del sent["status"]["allocation"]["devices"]["results"][0][field]
        return replace(request, body=orjson.dumps(sent))

    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.rewrite(STATUS, drop)
        with pytest.raises(AnswerDiffersError) as caught:
            await world.claims().allocate_and_reserve(claim, allocation(**{field: value}), pod)
        assert caught.value.gate == gate
        assert f"devices.results[0].{field}" in str(caught.value)
        assert gate in str(caught.value)
        live = await world.live()
        assert "allocation" not in live.get("status", {})
        assert not live.get("status", {}).get("reservedFor")

    run_virtual(main)


def drop_share(request: Request) -> Request:
    sent = body(request)
    del sent["status"]["allocation"]["devices"]["results"][0]["shareID"]
    return replace(request, body=orjson.dumps(sent))


@pytest.mark.parametrize("answer", [None, status(500)])
@pytest.mark.parametrize("executed", [False, True])
def test_a_dropped_field_is_undone_also_when_answers_get_lost(executed: bool, answer: Response | None) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.rewrite(STATUS, drop_share)
        for _ in range(7):
            world.faulty.fail(STATUS, answer, executed=executed)
        with pytest.raises(AnswerDiffersError):
            await world.claims().allocate_and_reserve(claim, allocation(shareID="s"), pod)
        assert "allocation" not in (await world.live()).get("status", {})

    run_virtual(main)


@pytest.mark.parametrize("answer", [None, status(500)])
def test_a_dropped_field_is_noticed_also_when_the_answer_itself_gets_lost(answer: Response | None) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.faults.append(Fault(STATUS, answer, executed=True, rewrite=drop_share))
        with pytest.raises(AnswerDiffersError):
            await world.claims().allocate_and_reserve(claim, allocation(shareID="s"), pod)
        assert "allocation" not in (await world.live()).get("status", {})

    run_virtual(main)


def test_an_answer_without_our_reservation_is_no_reservation() -> None:
    def drop_reservation(request: Request) -> Request:
        sent = body(request)
        sent["status"]["reservedFor"] = []
        return replace(request, body=orjson.dumps(sent))

    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.rewrite(STATUS, drop_reservation)
        with pytest.raises(ClaimLostError, match="dropped our entry"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert "allocation" not in (await world.live()).get("status", {})

    run_virtual(main)


def test_a_pod_that_joins_before_a_dropped_field_is_undone_keeps_the_allocation() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod, other = await world.claim(), PodRef.of(await world.pod()), PodRef.of(await world.pod("other"))

        async def join() -> None:
            entries = (await world.live())["status"]["reservedFor"]
            entry = {"resource": "pods", "name": other.name, "uid": other.uid}
            await world.change_status({"reservedFor": [*entries, entry]})

        world.faulty.rewrite(STATUS, drop_share)
        world.faulty.meanwhile(STATUS, join)
        with pytest.raises(AnswerDiffersError):
            await world.claims().allocate_and_reserve(claim, allocation(shareID="s"), pod)
        live = (await world.live())["status"]
        assert [entry["uid"] for entry in live["reservedFor"]] == [other.uid]
        assert live["allocation"]["devices"] == allocation()["devices"]

    run_virtual(main)


@pytest.mark.parametrize("code", [503, 429, 403])
def test_a_dropped_field_that_cannot_be_undone_is_an_unknown_outcome(code: int) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.rewrite(STATUS, drop_share)
        for _ in range(100):
            world.faulty.fail(STATUS, status(code))
        with pytest.raises(UnknownOutcomeError, match="a wrong allocation could not be undone"):
            await world.claims().allocate_and_reserve(claim, allocation(shareID="s"), pod)
        world.faulty.faults.clear()
        with pytest.raises(AnswerDiffersError):  # asked again, as the outcome is not known
            await world.claims().allocate_and_reserve(claim, allocation(shareID="s"), pod)
        assert "allocation" not in (await world.live()).get("status", {})

    run_virtual(main)


def test_a_claim_deleted_before_a_dropped_field_is_undone_is_nothing_to_undo() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())

        async def delete() -> None:
            await world.others.patch(CLAIM, {"metadata": {"finalizers": None}})
            await world.others.delete(CLAIM)

        world.faulty.rewrite(STATUS, drop_share)
        world.faulty.meanwhile(STATUS, delete)
        with pytest.raises(AnswerDiffersError):
            await world.claims().allocate_and_reserve(claim, allocation(shareID="s"), pod)

    run_virtual(main)


@pytest.mark.parametrize("answer", [None, status(500)])
def test_unreserving_goes_on_through_lost_answers_and_says_when_it_does_not_know(answer: Response | None) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        writer = world.claims()
        claim = await writer.allocate_and_reserve(await world.claim(), allocation(), pod)
        for _ in range(12):
            world.faulty.fail(STATUS, answer)
        freed = await writer.unreserve(ClaimRef.of(claim), pod.uid)
        assert freed is not None
        assert not freed["status"].get("reservedFor")
        for _ in range(200):
            world.faulty.fail(CLAIM, answer)
        with pytest.raises(UnknownOutcomeError, match="could not be removed"):
            await writer.unreserve(ClaimRef.of(claim), pod.uid)
        with pytest.raises(UnknownOutcomeError, match="no answer to the deallocation"):
            await writer.deallocate(freed)

    run_virtual(main)


def test_deallocating_what_is_not_allocated_or_gone_is_nothing_to_do() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod, writer = await world.claim(), PodRef.of(await world.pod()), world.claims()
        assert await writer.deallocate(claim) == claim
        claim = await writer.allocate_and_reserve(claim, allocation(), pod)
        free = await writer.unreserve(ClaimRef.of(claim), pod.uid)
        assert free is not None
        await world.others.patch(CLAIM, {"metadata": {"finalizers": None}})
        await world.others.delete(CLAIM)
        assert await writer.deallocate(free) is None

    run_virtual(main)


def test_an_allocation_that_others_have_joined_is_not_undone_under_them() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod, other = await world.claim(), PodRef.of(await world.pod()), PodRef.of(await world.pod("other"))

        def alter(request: Request) -> Request:
            sent = body(request)
            sent["status"]["allocation"] = allocation("gpu-9")
            sent["status"]["reservedFor"].append({"resource": "pods", "name": other.name, "uid": other.uid})
            return replace(request, body=orjson.dumps(sent))

        world.faulty.rewrite(STATUS, alter)
        with pytest.raises(AnswerDiffersError, match="no feature gate is known"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        live = (await world.live())["status"]
        assert [entry["uid"] for entry in live["reservedFor"]] == [other.uid]
        assert live["allocation"] == allocation("gpu-9")

    run_virtual(main)


def test_the_missing_right_to_bind_claims_is_told_and_not_retried() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        text = (
            "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires "
            'resource="resourceclaims/binding", verb="patch" permission: ...'
        )
        answer = {
            "kind": "Status",
            "code": 422,
            "reason": "Invalid",
            "message": f"ResourceClaim.resource.k8s.io gpu is invalid: {text}",
            "details": {"causes": [{"reason": "FieldValueForbidden", "field": "status.allocation", "message": text}]},
        }
        world.faulty.fail(STATUS, Response(422, orjson.dumps(answer)))
        with pytest.raises(BindingPermissionError, match="ClusterRoleBinding"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert len(world.faulty.sent(STATUS)) == 1

    run_virtual(main)


def test_a_server_that_is_too_busy_after_an_answer_was_lost_is_asked_what_became_of_it() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.fail(STATUS, executed=True)
        for _ in range(4):
            world.faulty.fail(STATUS, status(429, "TooManyRequests"))
        assert await world.claims().allocate_and_reserve(claim, allocation(), pod) == await world.live()

    run_virtual(main)


@pytest.mark.parametrize("executed", [False, True])
def test_a_refusal_after_an_answer_was_lost_says_nothing_of_what_was_sent_before(executed: bool) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.fail(STATUS, executed=executed)
        world.faulty.fail(STATUS, status(403, "Forbidden", "no rights"))
        wanted = world.claims().allocate_and_reserve(claim, allocation(), pod)
        if executed:
            assert await wanted == await world.live()
        else:
            with pytest.raises(UnknownOutcomeError, match="cut"):
                await wanted

    run_virtual(main)


def test_no_longer_being_the_scheduler_says_nothing_of_what_was_sent_before() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())

        def lose() -> None:
            world.may_write = False

        world.faulty.faults.append(Fault(STATUS, before=lose, executed=True))
        assert await world.claims().allocate_and_reserve(claim, allocation(), pod) == await world.live()

    run_virtual(main)


def test_a_write_that_took_effect_after_all_the_conflicts_is_not_given_up() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        for _ in range(3):
            world.faulty.meanwhile(STATUS, world.touch)
        for executed in (True, False, False, False, False):
            world.faulty.fail(STATUS, executed=executed)
        assert await world.claims().allocate_and_reserve(claim, allocation(), pod) == await world.live()

    run_virtual(main)


def test_what_the_server_refuses_for_good_is_raised_at_once() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())
        world.faulty.fail(STATUS, status(403, "Forbidden", "no rights"))
        with pytest.raises(ForbiddenError, match="no rights"):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert len(world.faulty.sent(STATUS)) == 1

    run_virtual(main)


def test_nothing_is_written_while_somebody_else_may_be_the_scheduler() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim, pod = await world.claim(), PodRef.of(await world.pod())

        def lose() -> None:
            world.may_write = False

        world.faulty.meanwhile(f"PATCH {CLAIM}", lose)
        with pytest.raises(NotWriterError):
            await world.claims().allocate_and_reserve(claim, allocation(), pod)
        assert world.faulty.sent(STATUS) == []

    run_virtual(main)


def test_unreserving_removes_our_entry_only_and_leaves_the_allocation() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        one, two = PodRef.of(await world.pod("one")), PodRef.of(await world.pod("two"))
        writer = world.claims()
        claim = await writer.allocate_and_reserve(await world.claim(), allocation(), one)
        await writer.allocate_and_reserve(claim, None, two)
        world.faulty.meanwhile(STATUS, world.touch)  # a conflict on the way
        result = await writer.unreserve(ClaimRef.of(claim), one.uid)
        assert result is not None
        assert [entry["uid"] for entry in result["status"]["reservedFor"]] == [two.uid]
        assert "allocation" in result["status"]
        world.faulty.requests.clear()
        assert await writer.unreserve(ClaimRef.of(claim), one.uid) == result
        assert [request.method for request in world.faulty.requests] == ["GET"]

    run_virtual(main)


def test_unreserving_a_claim_that_is_gone_or_another_one_is_nothing_to_do() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        claim = await world.claim()
        writer = world.claims()
        assert await writer.unreserve(ClaimRef("default", "gpu", "another"), "pod") is None
        await world.others.delete(CLAIM)
        assert await writer.unreserve(ClaimRef.of(claim), "pod") is None

    run_virtual(main)


def test_deallocating_needs_that_nobody_has_it_reserved_at_that_very_version() -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        pod = PodRef.of(await world.pod())
        writer = world.claims()
        claim = await writer.allocate_and_reserve(await world.claim(), allocation(), pod)
        with pytest.raises(ClaimLostError, match="is reserved"):
            await writer.deallocate(claim)
        free = await writer.unreserve(ClaimRef.of(claim), pod.uid)
        assert free is not None
        world.faulty.meanwhile(STATUS, lambda: world.change_status({"reservedFor": claim["status"]["reservedFor"]}))
        with pytest.raises(ClaimLostError, match="changed since it was read"):
            await writer.deallocate(free)
        assert "allocation" in (await world.live())["status"]
        free = await writer.unreserve(ClaimRef.of(claim), pod.uid)
        assert free is not None
        assert "allocation" not in (await writer.deallocate(free) or {})["status"]

    run_virtual(main)


@settings(max_examples=60, deadline=None)
@given(
    faults=st.lists(st.tuples(st.sampled_from(["cut", "after", "500", "touch", "reserve"]), st.booleans()), max_size=8),
    seed=st.integers(0, 1000),
)
def test_whatever_goes_wrong_success_means_in_force_and_failure_leaves_nobody_elses_entry_damaged(
    faults: list[tuple[str, bool]], seed: int
) -> None:
    async def main(clock: VirtualClock) -> None:
        world = World(clock)
        world.random = random.Random(seed)
        claim, pod, other = await world.claim(), PodRef.of(await world.pod()), PodRef.of(await world.pod("other"))

        async def reserve() -> None:
            live = await world.live()
            entries = live.get("status", {}).get("reservedFor") or []
            if live.get("status", {}).get("allocation") and not any(e["uid"] == other.uid for e in entries):
                entry = {"resource": "pods", "name": other.name, "uid": other.uid}
                await world.change_status({"reservedFor": [*entries, entry]})

        for kind, at_status in faults:
            where = STATUS if at_status else CLAIM
            if kind in ("cut", "after"):
                world.faulty.fail(where, executed=kind == "after")
            elif kind == "500":
                world.faulty.fail(where, status(500))
            else:
                world.faulty.meanwhile(where, world.touch if kind == "touch" else reserve)
        try:
            result = await world.claims().allocate_and_reserve(claim, allocation(), pod)
        except (ClaimLostError, UnknownOutcomeError):
            return
        live = await world.live()
        uids = [entry["uid"] for entry in live["status"]["reservedFor"]]
        assert pod.uid in [entry["uid"] for entry in result["status"]["reservedFor"]]
        assert uids.count(pod.uid) == 1
        assert live["metadata"]["finalizers"] == [FINALIZER]
        assert live["status"]["allocation"]["devices"] == allocation()["devices"]

    run_virtual(main)
