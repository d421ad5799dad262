import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_scheduler.cache.node_info import node_info
from dra_scheduler.cache.node_table import NO_PODS, NodeTable
from dra_scheduler.cache.pod_info import pod_info
from support.objects import make_node, make_pod


def table_of(*names: str) -> NodeTable:
    table = NodeTable()
    for number, name in enumerate(names):
        table.set_node(node_info(make_node(name)), number)
    return table


def test_pods_add_to_what_is_requested_and_leave_no_trace_when_removed() -> None:
    table = table_of("n0")
    row = table.row("n0")
    assert row is not None
    pod = pod_info(make_pod("p", requests={"cpu": "1", "memory": "1Gi"}, priority=7))
    table.requested("cpu")
    table.add_pod("n0", pod)
    assert table.requested("cpu")[row] == 1000
    assert table.requested("memory")[row] == 2**30
    assert (table.pod_counts[row], table.lowest_priority[row]) == (1, 7)
    table.remove_pod("n0", pod)
    assert table.requested("cpu")[row] == 0
    assert (table.pod_counts[row], table.lowest_priority[row], table.scored_cpu[row]) == (0, NO_PODS, 0)


def test_a_pod_may_come_before_its_node() -> None:
    table = NodeTable()
    table.add_pod("late", pod_info(make_pod("p", requests={"cpu": "1"})))
    assert table.row("late") is None
    assert len(table) == 0
    table.set_node(node_info(make_node("late")), 0)
    row = table.row("late")
    assert row is not None
    assert table.requested("cpu")[row] == 1000


def test_pods_of_a_removed_node_still_count_when_it_comes_back() -> None:
    table = table_of("n0")
    table.add_pod("n0", pod_info(make_pod("p", requests={"cpu": "1"})))
    table.remove_node("n0")
    assert table.row("n0") is None
    table.set_node(node_info(make_node("n0")), 3)
    row = table.row("n0")
    assert row is not None
    assert table.requested("cpu")[row] == 1000
    assert table.engine_ids[row] == 3


def test_only_changes_of_labels_taints_cordons_and_features_change_the_static_version() -> None:
    table = table_of("n0")
    before = table.static_version
    table.set_node(node_info(make_node("n0", cpu="8")), 0)
    assert table.static_version == before
    assert table.allocatable("cpu").max() == 8000
    table.set_node(node_info(make_node("n0", unschedulable=True)), 0)
    assert table.static_version == before + 1
    able = make_node("n0", unschedulable=True)
    able["status"]["declaredFeatures"] = ["X"]
    table.set_node(node_info(able), 0)
    assert table.static_version == before + 2


def test_the_table_grows_beyond_its_first_rows() -> None:
    names = [f"n{i}" for i in range(200)]
    table = table_of(*names)
    assert len(table) == 200
    assert [table.name(row) for row in np.flatnonzero(table.present)] == [
        table.name(table.row(name) or 0) for name in sorted(names, key=lambda name: table.row(name) or 0)
    ]
    assert table.allocatable("cpu")[table.present].tolist() == [4000] * 200


steps = st.lists(
    st.tuples(st.sampled_from(["node", "no-node", "pod", "no-pod"]), st.integers(0, 3), st.integers(0, 5)), max_size=40
)


@settings(deadline=None)
@given(steps)
def test_sums_are_always_those_of_the_pods_that_are_there(actions: list[tuple[str, int, int]]) -> None:
    table = NodeTable()
    table.requested("cpu")
    nodes: set[str] = set()
    pods: dict[int, str] = {}
    infos = {i: pod_info(make_pod(f"p{i}", requests={"cpu": str(i + 1)}, priority=i)) for i in range(6)}
    for action, node_number, pod_number in actions:
        node = f"n{node_number}"
        if action == "node":
            table.set_node(node_info(make_node(node)), node_number)
            nodes.add(node)
        elif action == "no-node":
            table.remove_node(node)
            nodes.discard(node)
        elif action == "pod" and pod_number not in pods:
            table.add_pod(node, infos[pod_number])
            pods[pod_number] = node
        elif action == "no-pod" and pod_number in pods:
            table.remove_pod(pods.pop(pod_number), infos[pod_number])
    assert len(table) == len(nodes)
    for node in nodes:
        row = table.row(node)
        assert row is not None
        mine = [number for number, at in pods.items() if at == node]
        assert table.requested("cpu")[row] == sum((n + 1) * 1000 for n in mine)
        assert table.pod_counts[row] == len(mine)
        assert table.lowest_priority[row] == min(mine, default=NO_PODS)
