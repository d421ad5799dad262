"""Pods: pending, assumed, on their node, gone."""

from dra_scheduler.cache.node_info import node_info
from dra_scheduler.cache.node_table import NodeTable
from dra_scheduler.cache.pod_info import pod_info
from dra_scheduler.cache.pod_store import PodStore
from support.objects import Raw, make_node, make_pod, newer


def stored(*pods: Raw) -> tuple[PodStore, NodeTable]:
    table = NodeTable()
    for number in range(2):
        table.set_node(node_info(make_node(f"n{number}")), number)
    store = PodStore(table)
    for raw in pods:
        store.observe(pod_info(raw))
    return store, table


def load(table: NodeTable) -> dict[str, int]:
    rows = {name: table.row(name) for name in ("n0", "n1")}
    return {name: int(table.requested("cpu")[row]) for name, row in rows.items() if row is not None}


PENDING = make_pod("p", requests={"cpu": "1"})
ON_N0 = newer(make_pod("p", requests={"cpu": "1"}, node="n0"))
ON_N1 = newer(make_pod("p", requests={"cpu": "1"}, node="n1"))


def test_an_assumed_pod_counts_until_it_is_forgotten() -> None:
    store, table = stored(PENDING)
    store.assume("uid-p", "n0")
    assert load(table) == {"n0": 1000, "n1": 0}
    assert store.forget("uid-p")
    assert load(table) == {"n0": 0, "n1": 0}


def test_an_event_without_a_node_does_not_end_an_assumption() -> None:
    store, table = stored(PENDING)
    store.assume("uid-p", "n0")
    store.observe(pod_info(newer(PENDING)))
    assert load(table) == {"n0": 1000, "n1": 0}
    assert store.assumed_node("uid-p") == "n0"


def test_an_observed_node_confirms_and_forgetting_then_changes_nothing() -> None:
    store, table = stored(PENDING)
    store.assume("uid-p", "n0")
    store.observe(pod_info(ON_N0))
    assert store.assumed_node("uid-p") is None
    assert not store.forget("uid-p")
    assert load(table) == {"n0": 1000, "n1": 0}


def test_a_pod_that_somebody_else_bound_elsewhere_is_there() -> None:
    store, table = stored(PENDING)
    store.assume("uid-p", "n0")
    store.observe(pod_info(ON_N1))
    assert load(table) == {"n0": 0, "n1": 1000}


def test_a_removed_pod_leaves_nothing_behind() -> None:
    store, table = stored(PENDING)
    store.assume("uid-p", "n0")
    assert store.remove("uid-p") is not None
    assert load(table) == {"n0": 0, "n1": 0}
    assert (len(store), store.uid_of("default", "p"), store.assumed_node("uid-p")) == (0, None, None)
    assert store.remove("uid-p") is None


def test_an_older_version_is_known_to_be_stale() -> None:
    store, _ = stored(ON_N0)
    assert store.is_stale(PENDING)
    assert not store.is_stale(newer(PENDING))
