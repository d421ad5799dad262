"""Features that pods require and nodes declare: kube-scheduler's plugin NodeDeclaredFeatures."""

from __future__ import annotations

from typing import Any

import pytest

from dra_scheduler.cache.required_features import (
    DECLARED_SINCE,
    MOUNT_OPTIONS,
    RESTART_ALL,
    USERS_ON_HOST_NETWORK,
    required_features,
)
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.cycle.filters.declared_features import LACKING
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.report.condition import condition_text
from support.known import bound, decide, known_cluster, make_cycle, rejected
from support.objects import Raw, make_claim, make_node, make_pod, make_slice

NO_DEVICES = "cannot allocate all claims"
CLAIM = [{"name": "gpu", "resourceClaimName": "c"}]
RULES = {"restartPolicyRules": [{"action": "Restart"}, {"action": "RestartAllContainers"}]}
MOUNTS = {"volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "b", "bindMountOptions": ["noexec"]}]}
USERS: dict[str, Any] = {"hostNetwork": True, "hostUsers": False}


def declaring(name: str, *features: str, **more: Any) -> Raw:
    node = make_node(name, **more)
    node["status"]["declaredFeatures"] = list(features)
    return node


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        ({}, set()),
        ({"containers": None, "initContainers": None}, set()),
        ({"containers": [{"restartPolicyRules": [{"action": "Restart"}], "volumeMounts": None}]}, set()),
        ({"containers": [{"volumeMounts": [{"bindMountOptions": []}, {"bindMountOptions": None}]}]}, set()),
        ({"containers": [{}, RULES]}, {RESTART_ALL}),
        ({"containers": [{}], "initContainers": [RULES]}, {RESTART_ALL}),
        ({"containers": [{}], "ephemeralContainers": [RULES]}, set()),
        ({"containers": [MOUNTS]}, {MOUNT_OPTIONS}),
        ({"containers": [{}], "initContainers": [MOUNTS]}, {MOUNT_OPTIONS}),
        ({"containers": [{}], "ephemeralContainers": [MOUNTS]}, {MOUNT_OPTIONS}),
        ({"hostNetwork": True, "hostUsers": False}, {USERS_ON_HOST_NETWORK}),
        ({"hostNetwork": True, "hostUsers": True}, set()),
        ({"hostNetwork": True}, set()),
        ({"hostNetwork": True, "hostUsers": None}, set()),
        ({"hostUsers": False}, set()),
        ({**USERS, "containers": [RULES | MOUNTS]}, {RESTART_ALL, MOUNT_OPTIONS, USERS_ON_HOST_NETWORK}),
    ],
)
def test_features_are_required_as_in_kubernetes(spec: Raw, features: set[str]) -> None:
    assert required_features(spec) == features


def test_a_pod_goes_only_where_all_that_it_requires_is_declared() -> None:
    some, all_ = (RESTART_ALL, MOUNT_OPTIONS), (RESTART_ALL, MOUNT_OPTIONS, USERS_ON_HOST_NETWORK)
    cluster = known_cluster([declaring("none"), declaring("some", *some), declaring("all", *all_, cpu="1")])
    spec = {"containers": [{"name": "main", **RULES, **MOUNTS}], **USERS}
    assert bound(cluster, make_pod("p", **spec)).node == "all"
    assert bound(cluster, make_pod("q", containers=[{"name": "main", **RULES}])).node in {"some", "all"}
    assert bound(cluster, make_pod("r")).node in {"none", "some"}


def test_the_message_is_kube_schedulers_and_preemption_does_not_help() -> None:
    cluster = known_cluster([declaring("a"), declaring("b", MOUNT_OPTIONS), make_node("c", unschedulable=True)])
    reject = rejected(cluster, make_pod("p", **USERS))
    assert reject.plugins == {"NodeDeclaredFeatures", "NodeUnschedulable"}
    text = condition_text(reject)
    assert (text.reason, text.message) == (
        "Unschedulable",
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's required features. "
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    )


def test_without_the_gate_nobody_asks() -> None:
    cluster = known_cluster([declaring("a")])
    cluster.use(FeatureGates.of({"NodeDeclaredFeatures": False}, 37))
    assert bound(cluster, make_pod("p", **USERS)).node == "a"


@pytest.mark.parametrize("feature", DECLARED_SINCE)
def test_what_kubelets_of_the_servers_version_do_not_declare_is_not_asked_for(feature: str) -> None:
    spec: Raw = {
        RESTART_ALL: {"containers": [{"name": "main", **RULES}]},
        MOUNT_OPTIONS: {"containers": [{"name": "main", **MOUNTS}]},
        USERS_ON_HOST_NETWORK: USERS,
    }[feature]
    gates = {"NodeDeclaredFeatures": True}
    cluster = known_cluster([declaring("a")])
    cluster.use(FeatureGates.of(gates, DECLARED_SINCE[feature]))
    assert rejected(cluster, make_pod("p", **spec)).counts == {LACKING: 1}
    cluster.use(FeatureGates.of(gates, DECLARED_SINCE[feature] - 1))
    assert bound(cluster, make_pod("q", **spec)).node == "a"


def test_a_node_without_devices_counts_as_such_whatever_it_declares() -> None:
    cluster = known_cluster([declaring("bare"), declaring("able", USERS_ON_HOST_NETWORK), declaring("lacking")])
    cluster.apply_slice(None, make_slice("lacking", 1))
    cluster.apply_claim(None, make_claim("c"))
    reject = rejected(cluster, make_pod("p", claims=CLAIM, **USERS))
    assert reject.counts == {NO_DEVICES: 2, LACKING: 1}
    assert reject.plugins == {"DynamicResources", "NodeDeclaredFeatures"}
    assert reject.explain is not None
    elsewhere = reject.explain().elsewhere
    assert elsewhere is not None
    reason = f"{LACKING} (UserNamespacesHostNetworkSupport)"
    assert (elsewhere.why, elsewhere.who) == ({reason: 1}, {reason: ("lacking",)})


def test_where_no_node_has_devices_either_features_are_not_what_the_pod_waits_for() -> None:
    cluster = known_cluster([declaring("a"), declaring("b")])
    cluster.apply_claim(None, make_claim("c"))
    reject = rejected(cluster, make_pod("p", claims=CLAIM, **USERS))
    assert (reject.counts, reject.plugins) == ({NO_DEVICES: 2}, {"DynamicResources"})


def test_a_rejection_is_not_told_again_to_a_pod_that_requires_something_else() -> None:
    cluster = known_cluster([declaring("a", MOUNT_OPTIONS)])
    cycle = make_cycle(cluster)
    first = decide(cluster, make_pod("p", requests={"cpu": "1"}, hostNetwork=True, hostUsers=False), cycle)
    assert isinstance(first, Reject)
    second = decide(cluster, make_pod("q", requests={"cpu": "1"}, hostNetwork=True, hostUsers=True), cycle)
    assert isinstance(second, Bind)


def test_what_a_node_declares_is_known_anew_when_it_changes_goes_and_comes_back() -> None:
    cluster = known_cluster([declaring("a")])
    rejected(cluster, make_pod("p", **USERS))
    cluster.apply_node(None, declaring("a", USERS_ON_HOST_NETWORK))
    assert bound(cluster, make_pod("q", **USERS)).node == "a"
    cluster.apply_node(declaring("a"), None)
    cluster.apply_node(None, declaring("b"))
    rejected(cluster, make_pod("r", **USERS))
    for number in range(100):
        cluster.apply_node(None, declaring(f"more-{number}"))
    cluster.apply_node(None, declaring("last", USERS_ON_HOST_NETWORK))
    assert bound(cluster, make_pod("s", **USERS)).node == "last"
