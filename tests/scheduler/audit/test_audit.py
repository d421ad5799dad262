"""Each fault, produced on purpose in objects, is found by its name; a cluster without faults has no finding."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dra_api.references import FINALIZER, POD, RESOURCE_CLAIM
from dra_scheduler.audit.audit import Report, audit, lasting
from dra_scheduler.audit.finding import HINTS, NAMES, Finding
from dra_scheduler.feature_gates import OURS
from dra_scheduler.survey.api_server import take
from dra_scheduler.survey.snapshot import Snapshot
from support.fake_clock import START, FakeClock
from support.stage import claim, device_class, node, pod, resource_slice
from support.survey import NOW, allocated, serve

Raw = dict[str, Any]
SHARES = ("4bb9c0a8-2f5d-4a7c-8a31-5c3c1b7a9b10", "4bb9c0a8-2f5d-4a7c-8a31-5c3c1b7a9b11")


def user(name: str, claim: str, *, on: str = "", phase: str = "Running") -> Raw:
    made = pod(name, claim=claim, **({"nodeName": on} if on else {}))
    made["metadata"]["uid"] = f"uid-{name}"
    made["status"] = {"phase": phase if on else "Pending"}
    return made


def published(*devices: Raw, **spec: Any) -> Raw:
    made = resource_slice("a", 2)
    made["spec"]["devices"] += devices
    made["spec"] |= spec
    return made


def shared(name: str, memory: str) -> Raw:
    return {"name": name, "allowMultipleAllocations": True, "capacity": {"memory": {"value": memory}}}


def snapshot_of(*objects: Raw) -> Snapshot:
    snapshot = asyncio.run(take(serve(node("a"), node("b"), device_class(), *objects), FakeClock()))
    snapshot.taken = NOW
    return snapshot


def found(*objects: Raw) -> list[tuple[str, str]]:
    return [finding.identity for finding in audit(snapshot_of(*objects)).findings]


def changed(raw: Raw, **metadata: Any) -> Raw:
    return {**raw, "metadata": {**raw["metadata"], **metadata}}


def test_a_cluster_without_faults_has_no_finding() -> None:
    objects = (published(), allocated(claim("one"), "a", "gpu-0-0", pods=("p",)), user("p", "one", on="a"))
    assert audit(snapshot_of(*objects, claim("free"), user("waits", "free"))) == Report(())


def test_every_name_has_a_meaning_and_a_hint() -> None:
    assert set(NAMES) == set(HINTS)


def test_a_device_held_twice_is_found_and_admin_access_is_no_holder() -> None:
    one, two = (allocated(claim(name), "a", "gpu-0-0") for name in ("one", "two"))
    admin = allocated(claim("three"), "a", "gpu-0-1", adminAccess=True)
    four = allocated(claim("four"), "a", "gpu-0-1")
    labels = {"resource.kubernetes.io/admin-access": "true"}
    privileged = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ops", "labels": labels}}
    admin["metadata"]["namespace"] = "ops"
    assert found(privileged, published(), one, two, admin, four) == [
        ("device-held-twice", "device gpu.example.com/a/gpu-0-0")
    ]


def test_shares_beyond_the_capacity_are_found() -> None:
    amounts = ("30Gi", "20Gi")
    claims = [allocated(claim(f"c{i}"), "a", "big", share=SHARES[i], consumed={"memory": amounts[i]}) for i in range(2)]
    (finding,) = audit(snapshot_of(published(shared("big", "40Gi")), *claims)).findings
    assert finding.name == "shares-exceed-capacity"
    assert "50Gi of 40Gi in use by claim default/c0, claim default/c1" in finding.text
    assert found(published(shared("big", "50Gi")), *claims) == []


def test_a_shareable_device_held_as_a_whole_beside_a_share_is_held_twice() -> None:
    whole = allocated(claim("one"), "a", "big")
    share = allocated(claim("two"), "a", "big", share=SHARES[0], consumed={"memory": "1Gi"})
    assert found(published(shared("big", "40Gi")), whole, share) == [
        ("device-held-twice", "device gpu.example.com/a/big")
    ]


def test_counters_beyond_their_set_are_found() -> None:
    takes = [{"counterSet": "set", "counters": {"slots": {"value": "3"}}}]
    partitions = [{"name": f"part-{i}", "consumesCounters": takes} for i in range(2)]
    devices = published(*partitions)
    devices["spec"]["pool"] |= {"resourceSliceCount": 2}
    counters = resource_slice("a", 0, number=1, slices=2)
    counters["spec"]["sharedCounters"] = [{"name": "set", "counters": {"slots": {"value": "4"}}}]
    del counters["spec"]["devices"]
    claims = [allocated(claim(f"c{i}"), "a", f"part-{i}") for i in range(2)]
    assert found(devices, counters, claims[0]) == []
    (finding,) = audit(snapshot_of(devices, counters, *claims)).findings
    assert finding == Finding(
        "counters-exceeded", "pool gpu.example.com/a", "counter slots of set set: 6 of 4 taken by the devices in use"
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("bound-not-reserved", allocated(claim("one"), "a", "gpu-0-0")),
        ("bound-not-allocated", claim("one")),
        ("bound-elsewhere", allocated(claim("one"), "a", "gpu-0-0", node="b", pods=("p",))),
        ("bound-without-claim", claim("other")),
    ],
)
def test_a_pod_that_is_bound_without_what_it_needs_is_found(name: str, given: Raw) -> None:
    assert found(published(), given, user("p", "one", on="a")) == [(name, "Pod default/p")]


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ((), "there is no such pod"),
        ((changed(user("p", "one"), uid="another"),), "another one"),
        ((user("p", "one", on="a", phase="Succeeded"),), "has ended (Succeeded)"),
    ],
)
def test_a_reservation_for_a_pod_that_is_gone_is_found(users: tuple[Raw, ...], said: str) -> None:
    given = (published(), allocated(claim("one"), "a", "gpu-0-0", pods=("p",)), *users)
    (finding,) = audit(snapshot_of(*given)).findings
    assert finding.identity == ("reserved-for-gone-pod", "ResourceClaim default/one")
    assert said in finding.text


def test_a_device_that_vanished_is_found_unless_its_pool_is_being_written() -> None:
    gone = allocated(claim("one"), "a", "gpu-0-7")
    nowhere = allocated(claim("two"), "elsewhere", "gpu-0-0")
    assert found(published(), gone, nowhere) == [
        ("device-vanished", "ResourceClaim default/one"),
        ("device-vanished", "ResourceClaim default/two"),
    ]
    writing = published(pool={"name": "a", "generation": 2, "resourceSliceCount": 2})
    young = snapshot_of(writing, gone)
    young.taken = START + timedelta(seconds=30)
    assert audit(young).findings == ()


def test_taints_of_an_allocated_device_are_told_apart_by_their_effect() -> None:
    taints = [{"key": "heat", "effect": effect} for effect in ("NoSchedule", "NoExecute", "None")]
    devices = published({"name": "hot", "taints": taints})
    tolerations = [{"key": "heat", "operator": "Exists"}]
    assert found(devices, allocated(claim("one"), "a", "hot", tolerations=tolerations)) == []
    assert found(devices, allocated(claim("one"), "a", "hot")) == [
        ("device-tainted-noexecute", "ResourceClaim default/one"),
        ("device-tainted-noschedule", "ResourceClaim default/one"),
    ]


def test_a_taint_of_a_rule_is_found_too() -> None:
    rule = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "repair"},
        "spec": {"deviceSelector": {"pool": "a"}, "taint": {"key": "repair", "effect": "NoExecute"}},
    }
    (finding,) = audit(snapshot_of(published(), rule, allocated(claim("one"), "a", "gpu-0-0"))).findings
    assert finding.name == "device-tainted-noexecute"
    assert "by DeviceTaintRule repair; in use by no pod" in finding.text


def test_a_finalizer_that_nobody_needs_is_found_once_it_is_old() -> None:
    leaked = changed(claim("one"), finalizers=[FINALIZER])
    assert found(leaked) == [("finalizer-leaked", "ResourceClaim default/one")]
    deleted = changed(leaked, deletionTimestamp="2026-01-01T00:00:00Z")
    (finding,) = audit(snapshot_of(deleted)).findings
    assert "being deleted" in finding.text
    young = snapshot_of(leaked)
    young.taken = START + timedelta(seconds=30)
    assert audit(young).findings == ()


def test_an_allocation_without_its_finalizer_is_found() -> None:
    bare = changed(allocated(claim("one"), "a", "gpu-0-0"), finalizers=[])
    assert found(published(), bare) == [("finalizer-missing", "ResourceClaim default/one")]


def test_an_allocation_without_a_timestamp_is_found_where_servers_keep_it() -> None:
    bare = allocated(claim("one"), "a", "gpu-0-0")
    del bare["status"]["allocation"]["allocationTimestamp"]
    snapshot = snapshot_of(published(), bare)
    assert [f.name for f in audit(snapshot).findings] == ["allocation-without-timestamp"]
    snapshot.minor = 33
    assert audit(snapshot).findings == ()


def test_a_pool_is_incomplete_only_after_a_minute() -> None:
    snapshot = snapshot_of(resource_slice("a", 1, slices=2))
    (finding,) = audit(snapshot).findings
    assert finding.identity == ("pool-incomplete", "pool gpu.example.com/a")
    assert "generation 1 has 1 of 2 slices, for at least 3600 s" in finding.text
    snapshot.taken = START + timedelta(seconds=59)
    assert audit(snapshot).findings == ()


def test_a_pool_that_contradicts_itself_is_found() -> None:
    takes = [{"counterSet": "none", "counters": {"slots": {"value": "3"}}}]
    assert found(published({"name": "part", "consumesCounters": takes})) == [("pool-invalid", "pool gpu.example.com/a")]


def test_an_object_that_cannot_be_read_is_found() -> None:
    snapshot = snapshot_of()
    snapshot.objects[POD.kind] = [changed(user("p", "one"), resourceVersion="1") | {"spec": {"containers": 5}}]
    (finding,) = audit(snapshot).findings
    assert finding.identity == ("object-unreadable", "Pod default/p")


def test_a_check_without_what_it_needs_is_left_out_and_said() -> None:
    snapshot = snapshot_of(published(), claim("one"))
    del snapshot.objects[POD.kind]
    report = audit(snapshot)
    assert report.findings == ()
    assert len(report.left_out) == 2
    assert "cannot be checked without pods" in report.left_out[0]


def test_only_what_both_looks_find_is_told_with_the_figures_of_the_second() -> None:
    first = Report((Finding("a", "x", "1"), Finding("a", "y", "1")))
    second = Report((Finding("a", "x", "2"), Finding("a", "z", "1")))
    assert lasting(first, second).findings == (Finding("a", "x", "2"),)


def test_a_claim_of_a_group_is_reserved_for_the_group() -> None:
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default", "uid": "uid-g"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 1}},
            "resourceClaims": [{"name": "shared", "resourceClaimName": "one"}],
        },
    }
    member = user("p", "one", on="a")
    member["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    snapshot = snapshot_of(published(), allocated(claim("one"), "a", "gpu-0-0"), member, group)
    snapshot.gates = dict.fromkeys(OURS, True)
    assert [f.name for f in audit(snapshot).findings] == ["bound-not-reserved"]
    (held,) = snapshot.of(RESOURCE_CLAIM)
    entry = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "uid-g"}
    held["status"]["reservedFor"] = [entry]
    assert audit(snapshot).findings == ()
