"""The table under change: whatever is derived from it equals what a fresh table gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_allocator.claim import DeviceClass
from dra_allocator.device import CapacityPolicy, DeviceID, DeviceTaint, DeviceTaintRule, NodeScope, ResourceSlice
from dra_allocator.features import Features
from dra_allocator.node import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_allocator.outcome import Allocation
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_cel.quantity import Quantity
from dra_cel.semver import Semver
from support.clusters import pools
from support.devices import (
    ANY,
    CLASS,
    DRIVER,
    Calls,
    Cluster,
    claim,
    counter_set,
    counters,
    device,
    holding,
    picked,
    request,
    resource_slice,
)

NODES = ("n1", "n2", "n3")
MODEL = f'device.attributes["{DRIVER}"].model == "a"'
ZONE_A = NodeScope(selector=NodeSelector((NodeSelectorTerm((NodeSelectorRequirement("zone", "In", ("a",)),)),)))


def names(cluster: Cluster, node: str) -> list[str]:
    node_id = cluster.table.node_id(node)
    assert node_id is not None
    return [cluster.table.rows.name(row) for row in cluster.view.layout(node_id).rows.tolist()]


def fits(cluster: Cluster, *asked: object) -> list[bool]:
    attempt = cluster.allocator.feasible(cluster.view, list(asked), cluster.nodes)  # type: ignore[arg-type]
    while (answer := attempt.step(Calls())) is None:
        pass
    assert not hasattr(answer, "kind"), answer
    return list(answer.fits.tolist())  # type: ignore[union-attr]


def test_amounts_of_any_length_do_no_harm() -> None:
    huge = Quantity.parse("9" * 10_000)
    shared = device("a", memory="9" * 10_000, policy=CapacityPolicy(huge, (huge,)), allow_multiple_allocations=True)
    cluster = Cluster(resource_slice("s", [shared], node="n1"))
    assert fits(cluster, claim(request(capacity={"memory": Quantity.from_int(1)}))) == [True]
    assert fits(cluster, claim(request(capacity={"memory": huge.add(huge)}))) == [False]


def test_a_device_keeps_its_row_while_its_slice_has_the_name() -> None:
    table = Table()
    table.apply_slice(resource_slice("s", [device("a"), device("b"), device("c")], node="n1"))
    rows = table.rows_of(DeviceID(DRIVER, "n1", "c"))
    table.apply_slice(resource_slice("s", [device("c", model="x"), device("d")], node="n1"))
    assert table.rows_of(DeviceID(DRIVER, "n1", "c")) == rows != ()
    assert table.rows_of(DeviceID(DRIVER, "n1", "a")) == ()
    assert len(table.rows) == 3


def test_a_device_comes_back_as_it_was_published() -> None:
    original = device(
        "d",
        memory="80Gi",
        model="A100",
        index=3,
        ecc=True,
        version=Semver.parse("1.2.3+b"),
        nics=("n0", "n1"),
        taints=(DeviceTaint("t"),),
        binding_conditions=("c",),
        consumes_counters=(counters("set", slots=1),),
    )
    table = Table()
    table.apply_slice(
        resource_slice("s", [original, device("e", index=True)], node="n1", shared_counters=(counter_set("set"),))
    )
    assert table.device(DeviceID(DRIVER, "n1", "d")) == original
    other = table.device(DeviceID(DRIVER, "n1", "e"))
    assert other is not None
    assert other.attributes[f"{DRIVER}/index"] is True
    assert [(str(one), scope) for one, _, scope in table.devices()] == [
        (f"{DRIVER}/n1/d", NodeScope(node_name="n1")),
        (f"{DRIVER}/n1/e", NodeScope(node_name="n1")),
    ]


def test_the_search_order_is_by_driver_pool_slice_and_place_with_binding_conditions_last() -> None:
    cluster = Cluster(
        resource_slice("z", [device("z2"), device("z1")], node="n1", pool="b", slice_count=2),
        resource_slice("y", [device("y1")], scope=ANY, pool="b", slice_count=2),
        resource_slice("x", [device("x1", binding_conditions=("c",)), device("x2")], node="n1", pool="a"),
        resource_slice("w", [device("w1")], node="n1", pool="c", driver="a.example.com"),
    )
    assert names(cluster, "n1") == ["w1", "y1", "z2", "z1", "x1", "x2"]


def test_only_the_newest_generation_counts_even_where_a_node_sees_none_of_it() -> None:
    cluster = Cluster(resource_slice("old", [device("o")], node="n1", pool="p"), nodes=("n1", "n2"))
    assert names(cluster, "n1") == ["o"]
    cluster.table.apply_slice(resource_slice("new", [device("n")], node="n2", pool="p", generation=2))
    assert names(cluster, "n1") == []
    assert names(cluster, "n2") == ["n"]
    cluster.table.remove_slice("new")
    assert names(cluster, "n1") == ["o"]


def test_a_change_of_labels_changes_who_sees_a_shared_slice() -> None:
    cluster = Cluster(resource_slice("s", [device("d")], scope=ZONE_A), nodes=("n1", "n2"))
    assert fits(cluster, claim()) == [False, False]
    cluster.table.apply_node(Node("n2", {"zone": "a"}))
    assert fits(cluster, claim()) == [False, True]
    assert names(cluster, "n2") == ["d"]


def test_slices_may_come_before_their_node_and_stay_after_it() -> None:
    cluster = Cluster(resource_slice("s", [device("d")], node="late"))
    cluster.nodes = ["late"]
    cluster.table.apply_node(Node("late"))
    assert fits(cluster, claim()) == [True]
    cluster.table.remove_node("late")
    cluster.table.apply_node(Node("other"))
    cluster.nodes = ["other"]
    assert fits(cluster, claim()) == [False]


def test_devices_with_their_own_node_are_seen_by_that_node_only() -> None:
    devices = [device("a", scope=NodeScope(node_name="n1")), device("b", scope=NodeScope(node_name="n2"))]
    devices += [device("c", scope=ANY), device("d", scope=NodeScope(invalid="two terms"))]
    cluster = Cluster(resource_slice("s", devices, per_device_node_selection=True), nodes=("n1", "n2"))
    assert names(cluster, "n1") == ["a", "c"]
    assert names(cluster, "n2") == ["b", "c"]
    assert fits(cluster, claim(request(count=2))) == [True, True]
    assert fits(cluster, claim(request(count=3))) == [False, False]


def test_a_selector_that_cannot_be_parsed_takes_out_its_own_slice_only() -> None:
    cluster = Cluster(
        resource_slice("bad", [device("b")], scope=NodeScope(invalid="two terms"), pool="bad"),
        resource_slice("good", [device("g")], node="n1"),
    )
    assert names(cluster, "n1") == ["g"]


def test_values_of_devices_that_have_gone_are_forgotten() -> None:
    table = Table()
    for turn in range(40):
        devices = [device(f"d{n}", serial=f"{turn}-{n}") for n in range(100)]
        table.apply_slice(resource_slice("s", devices, node="n1"))
    column = next(column for _, column in table.rows.columns._shapes[1].attributes)
    assert len(column.values) < 2500
    assert table.device(DeviceID(DRIVER, "n1", "d7")) == device("d7", serial="39-7")


def test_a_rule_taints_new_devices_too() -> None:
    cluster = Cluster(resource_slice("s", [device("d")], node="n1"), nodes=("n1", "n2"))
    cluster.table.apply_taint_rule(DeviceTaintRule("r", DeviceTaint("t"), device="e"))
    assert fits(cluster, claim()) == [True, False]
    cluster.table.apply_slice(resource_slice("s2", [device("e")], node="n2"))
    assert fits(cluster, claim()) == [True, False]
    cluster.table.remove_taint_rule("r")
    assert fits(cluster, claim()) == [True, True]


def test_a_rule_can_select_by_class_and_by_expression() -> None:
    cluster = Cluster(resource_slice("s", [device("d", model="a")], node="n1"))
    cluster.table.apply_class(DeviceClass("special", (MODEL,)))
    cluster.table.apply_taint_rule(DeviceTaintRule("r", DeviceTaint("t"), device_class="special"))
    assert fits(cluster, claim()) == [False]
    cluster.table.apply_class(DeviceClass("special", ("false",)))
    assert fits(cluster, claim()) == [True]
    cluster.table.apply_taint_rule(DeviceTaintRule("r", DeviceTaint("t"), selectors=(MODEL,)))
    assert fits(cluster, claim()) == [False]
    cluster.table.apply_taint_rule(DeviceTaintRule("r", DeviceTaint("t"), matches_nothing=True))
    assert fits(cluster, claim()) == [True]


Change = Callable[[Cluster], None]
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def changes(draw: st.DrawFn) -> list[list[Change]]:
    """Batches of changes to slices, nodes, holders and the class."""
    return [[draw(_change()) for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(1, 4)))]


@st.composite
def _change(draw: st.DrawFn) -> Change:
    kind = draw(st.sampled_from(("pool", "remove", "node", "hold", "release", "assume", "shared", "count")))
    name, node = draw(st.sampled_from("pq")), draw(st.sampled_from(NODES))
    label = draw(st.sampled_from("ab"))
    slices: list[ResourceSlice] = draw(pools(name, True)) if kind == "pool" else []
    pick = draw(st.integers(0, 5))

    def apply(cluster: Cluster) -> None:
        table, ledger = cluster.table, cluster.ledger
        known = [device_id for device_id, _, _ in table.devices()]
        if kind == "pool":
            for one in slices:
                table.apply_slice(one)
        elif kind == "remove":
            table.remove_slice(f"{name}-{pick % 3}")
        elif kind == "node":
            table.apply_node(Node(node, {"zone": label}))
        elif kind == "shared":
            table.apply_slice(resource_slice("zone", [device("z0", model=label)], scope=ZONE_A, pool="zone"))
        elif kind == "count":
            table.apply_slice(resource_slice(f"{name}-1", [device("x")], node=node, pool=name, slice_count=pick))
        elif kind == "release":
            ledger.observe(f"uid-{pick}", None)
            ledger.forget(f"uid-{pick}")
        elif known:
            target = known[pick % len(known)]
            result = holding(target.device, pool=target.pool)
            (ledger.assume if kind == "assume" else ledger.observe)(f"uid-{pick}", result)

    return apply


@few
@given(changes())
def test_what_is_kept_up_to_date_equals_what_is_made_afresh(batches: list[list[Change]]) -> None:
    asked = [claim(request(selectors=(MODEL,))), claim(request(count=2)), claim(request("adm", admin_access=True))]
    live = Cluster(nodes=NODES)
    done: list[Change] = []
    for batch in batches:
        for change in batch:
            change(live)
        done += batch
        live_fits = [fits(live, one) for one in asked]
        fresh = Cluster(nodes=NODES)
        for change in done:
            change(fresh)
        searched = [[hasattr(fresh_search(fresh, one, node), "claims") for node in NODES] for one in asked]
        assert live_fits == searched
        for node in NODES:
            assert names(live, node) == names(fresh, node)


def fresh_search(cluster: Cluster, asked: object, node: str) -> object:
    attempt = cluster.allocator.allocate(cluster.view, [asked], [node])  # type: ignore[list-item]
    return attempt.step(Calls())


def test_views_of_different_features_do_not_disturb_each_other() -> None:
    cluster = Cluster(resource_slice("s", [device("d", binding_conditions=("c",))], node="n1"))
    assert fits(cluster, claim()) == [True]
    off = View(cluster.table, cluster.ledger, replace(Features.all_on(), binding_conditions=False))
    answer = cluster.allocator.feasible(off, [claim()], np.array([0], np.int32)).step(Calls())
    assert answer is not None
    assert answer.fits.tolist() == [False]  # type: ignore[union-attr]
    assert fits(cluster, claim()) == [True]
    assert CLASS in cluster.table.classes


@few
@given(changes(), changes(), st.integers(0, 12))
def test_changes_between_steps_never_break_an_attempt(
    before: list[list[Change]], during: list[list[Change]], extra_nodes: int
) -> None:
    cluster = Cluster(nodes=(*NODES, *(f"x{number}" for number in range(extra_nodes))))
    for change in (one for batch in before for one in batch):
        change(cluster)
    asked = [claim(request(selectors=(MODEL,)), request("two", 2), name="one"), claim(name="more")]
    attempt = cluster.allocator.allocate(cluster.view, asked, cluster.nodes)
    later = [one for batch in during for one in batch]
    while (outcome := attempt.step(Calls(0))) is None:
        if later:
            later.pop()(cluster)
    if isinstance(outcome, Allocation) and cluster.view.unchanged(outcome.stamp):
        again = cluster.allocator.allocate(cluster.view, asked, [outcome.node]).step(Calls())
        assert isinstance(again, Allocation)
        assert picked(again) == picked(outcome)  # shares have new names each time
