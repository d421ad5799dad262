"""Which event may help which pod."""

import pytest

from dra_allocator.ledger import Ledger
from dra_scheduler.cache.claim_store import ClaimChange, ClaimStore
from dra_scheduler.cache.node_info import node_info
from dra_scheduler.cache.pod_info import pod_info
from dra_scheduler.plugins import Plugin
from dra_scheduler.queue.events import (
    ClaimChanged,
    ClusterEvent,
    DevicesChanged,
    NamespaceChanged,
    NodeChanged,
    PodLeft,
    PodPlaced,
    QuotaChanged,
)
from dra_scheduler.queue.hints import Hints, concerned
from support.objects import Raw, make_claim, make_node, make_pod

HINTS = Hints(lambda pod: "")
NODE = make_node("n")
TAINT = [{"key": "k", "value": "v", "effect": "NoSchedule"}]


def declaring(*features: str) -> Raw:
    node = make_node("n")
    node["status"]["declaredFeatures"] = list(features)
    return node


def helps(plugin: Plugin, event: ClusterEvent, **pod: object) -> bool:
    return HINTS.helps(pod_info(make_pod("p", **pod)), frozenset({plugin}), event)  # type: ignore[arg-type]


def changed(before: Raw | None, after: Raw) -> NodeChanged:
    return NodeChanged(None if before is None else node_info(before), node_info(after))


@pytest.mark.parametrize(
    ("plugin", "event", "expected"),
    [
        ("NodeAffinity", changed(None, NODE), True),
        ("NodeAffinity", changed(NODE, make_node("n", cpu="9")), False),
        ("NodeAffinity", changed(NODE, make_node("n", labels={"zone": "a"})), True),
        ("TaintToleration", changed(None, make_node("n", taints=TAINT)), False),
        ("TaintToleration", changed(make_node("n", taints=TAINT), NODE), True),
        ("NodeUnschedulable", changed(make_node("n", unschedulable=True), NODE), True),
        ("NodeUnschedulable", changed(NODE, make_node("n", labels={"zone": "a"})), False),
        ("NodeResourcesFit", changed(NODE, make_node("n", cpu="9")), True),
        ("NodeResourcesFit", changed(NODE, make_node("n", cpu="1")), False),
        ("NodeResourcesFit", changed(None, make_node("n", cpu="1")), False),
        ("NodePorts", changed(None, NODE), True),
        ("DynamicResources", changed(NODE, make_node("n", labels={"zone": "a"})), True),
        ("DynamicResources", changed(NODE, make_node("n", unschedulable=True)), False),
        ("DynamicResources", changed(NODE, declaring("DRAOptionalNodeOperations")), True),
        ("DynamicResources", changed(declaring("DRAOptionalNodeOperations"), NODE), False),
        ("VolumeBinding", changed(None, NODE), False),
        ("DynamicResources", DevicesChanged("class"), True),
        ("NodeAffinity", DevicesChanged("slice"), False),
        ("InterPodAffinity", PodPlaced(pod_info(make_pod("q", node="n"))), True),
        ("NodeResourcesFit", PodPlaced(pod_info(make_pod("q", node="n"))), False),
        ("InterPodAffinity", PodLeft(pod_info(make_pod("q", node="n"))), True),
        ("InterPodAffinity", changed(NODE, make_node("n", labels={"zone": "a"})), True),
        ("NodeResourcesFit", PodLeft(pod_info(make_pod("q", node="n"))), True),
        ("DynamicResources", NamespaceChanged("default"), True),
        ("DynamicResources", NamespaceChanged("other"), False),
        ("InterPodAffinity", NamespaceChanged("other"), True),
        ("NodeResourcesFit", NamespaceChanged("default"), False),
        ("DynamicResources", PodLeft(pod_info(make_pod("q", node="n"))), False),
        ("ResourceQuota", QuotaChanged("default"), True),
        ("ResourceQuota", QuotaChanged("another"), False),
        ("ResourceQuota", changed(None, NODE), False),
        ("DynamicResources", QuotaChanged("default"), False),
    ],
)
def test_events_help_the_plugins_whose_mind_they_may_change(
    plugin: Plugin, event: ClusterEvent, expected: bool
) -> None:
    assert helps(plugin, event, requests={"cpu": "2"}) is expected
    # The queue asks only the pods of the plugins that are concerned at all.
    kinds = concerned(event)
    assert not expected or kinds is None or plugin in kinds


def test_a_class_or_a_node_without_a_plugin_may_help_a_pod_that_lacks_an_extended_resource() -> None:
    name = "example.com/gpu"
    wants = {"requests": {name: "2"}}
    assert helps("NodeResourcesFit", DevicesChanged("class"), **wants)
    assert not helps("NodeResourcesFit", DevicesChanged("class"), requests={"cpu": "1"})
    assert not helps("NodeResourcesFit", DevicesChanged("slice"), **wants)
    plugin = make_node("n", **{name: "1"})
    assert not helps("NodeResourcesFit", changed(None, plugin), **wants)
    assert helps("NodeResourcesFit", changed(None, NODE), **wants)
    # The plugin has gone: devices may serve there.
    assert helps("NodeResourcesFit", changed(plugin, NODE), **wants)
    assert not helps("NodeResourcesFit", changed(NODE, plugin), **wants)


def test_another_class_or_a_node_with_a_plugin_may_help_a_pod_whose_claim_a_quota_refuses() -> None:
    name = "example.com/gpu"
    wants = {"requests": {name: "2"}}
    plugin = make_node("n", **{name: "1"})
    assert helps("ResourceQuota", DevicesChanged("class"), **wants)
    assert "ResourceQuota" in (concerned(DevicesChanged("class")) or ())
    assert not helps("ResourceQuota", DevicesChanged("slice"), **wants)
    assert helps("ResourceQuota", changed(None, plugin), **wants)
    assert helps("ResourceQuota", changed(NODE, plugin), **wants)
    assert not helps("ResourceQuota", changed(None, NODE), **wants)
    assert not helps("ResourceQuota", changed(plugin, make_node("n", cpu="9", **{name: "1"})), **wants)


def test_a_node_helps_a_pod_by_a_feature_that_it_requires_only() -> None:
    users = {"hostNetwork": True, "hostUsers": False}
    able, other = declaring("UserNamespacesHostNetworkSupport"), declaring("VolumeBindMountOptions")
    assert helps("NodeDeclaredFeatures", changed(None, able), **users)
    assert helps("NodeDeclaredFeatures", changed(NODE, able), **users)
    assert helps("NodeDeclaredFeatures", changed(other, able), **users)
    assert not helps("NodeDeclaredFeatures", changed(None, other), **users)
    assert not helps("NodeDeclaredFeatures", changed(NODE, other), **users)
    assert not helps("NodeDeclaredFeatures", changed(able, NODE), **users)
    assert not helps("NodeDeclaredFeatures", changed(able, able | {"spec": {"unschedulable": True}}), **users)
    assert not helps("NodeDeclaredFeatures", DevicesChanged("slice"), **users)


def test_a_pod_that_left_helps_another_with_the_same_host_port_only() -> None:
    def wants(port: int) -> list[Raw]:
        return [{"name": "main", "ports": [{"hostPort": port}]}]

    left = PodLeft(pod_info(make_pod("q", node="n", containers=wants(80))))
    assert helps("NodePorts", left, containers=wants(80))
    assert not helps("NodePorts", left, containers=wants(81))


def test_without_a_plugin_to_ask_every_event_helps() -> None:
    assert HINTS.helps(pod_info(make_pod("p")), frozenset(), changed(None, NODE))


def test_a_change_of_the_pods_claim_helps_if_its_status_changed_and_its_claims_can_be_used() -> None:
    store = ClaimStore(Ledger())
    change = store.observe(make_claim("c"))
    assert change is not None
    claims = [{"name": "c", "resourceClaimName": "c"}]
    assert helps("DynamicResources", ClaimChanged(change), claims=claims)
    only_metadata = ClaimChange(change.claim)
    assert not helps("DynamicResources", ClaimChanged(only_metadata), claims=claims)
    assert helps("DynamicResources", ClaimChanged(ClaimChange(change.claim, status=True)), claims=claims)
    assert not helps("DynamicResources", ClaimChanged(ClaimChange(change.claim, status=True)))
    gone = ClaimChanged(ClaimChange(change.claim, removed=True))
    assert not helps("DynamicResources", gone, claims=claims)
    blocked = Hints(lambda pod: "ResourceClaim not created yet")
    waiting = pod_info(make_pod("p", claims=claims))
    assert not blocked.helps(waiting, frozenset({"DynamicResources"}), ClaimChanged(change))
