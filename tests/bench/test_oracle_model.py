"""The model on clusters so small that the right outcome is plain; with a bug on, it does what Kubernetes does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dra_bench.oracle.features import FEATURES
from dra_bench.oracle.model.amounts import Milli, NotRepresentableError, amount, consumption
from dra_bench.oracle.model.attempt import TooManyStepsError, attempt
from dra_bench.oracle.model.bugs import MODELLED, Bug
from dra_bench.oracle.model.constraints import holds

JSON = dict[str, Any]
DRIVER = "a.example.com"
HERE = {"nodeName": "node-1"}


class Letters:
    """Stands for the oracle: one letter for every device, by expression; derived attributes are the text itself."""

    def __init__(self, **letters: str) -> None:
        self._letters = letters

    def ask(self, question: JSON) -> JSON:
        text, count = question["expression"], len(question["devices"])
        if question["kind"] == "derived":
            return {"letters": "T" * count, "attributes": [{"string": text}] * count}
        return {"letters": self._letters.get(text, "T") * count}


def pool_slice(name: str, devices: list[JSON], scope: JSON | None = None, **spec: Any) -> JSON:
    pool = {"name": spec.pop("pool", "pool"), "generation": spec.pop("generation", 1)}
    pool["resourceSliceCount"] = spec.pop("count", 1)
    body = {"driver": DRIVER, "pool": pool, "devices": devices, **(HERE if scope is None else scope), **spec}
    return {"metadata": {"name": name}, "spec": body}


def request(name: str = "r", **body: Any) -> JSON:
    return {"name": name, "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, **body}}


def claim(*requests: JSON, **devices: Any) -> JSON:
    return {"metadata": {"name": "claim"}, "spec": {"devices": {"requests": list(requests), **devices}}}


def cluster(slices: list[JSON], *claims: JSON, **given: Any) -> JSON:
    return {
        "features": dict.fromkeys(FEATURES, True) | given.pop("features", {}),
        "node": {"metadata": {"name": "node-1", "labels": {"zone": "z1", "size": "4"}}, "status": {}},
        "classes": [{"metadata": {"name": "any"}, "spec": {}}],
        "claimsToAllocate": list(claims),
        "slices": slices,
        "allocatedDevices": [],
        "allocatedSharedDeviceIDs": [],
        "aggregatedCapacity": [],
    } | given


def identity(device: str) -> JSON:
    return {"driver": DRIVER, "pool": "pool", "device": device}


def picked(case: JSON, *bugs: Bug, oracle: Letters | None = None) -> list[str] | str:
    """The devices in order, or the outcome."""
    outcome = attempt(case, oracle or Letters(), frozenset(bugs))
    if outcome["outcome"] != "results":
        return str(outcome["outcome"])
    return [device["device"] for result in outcome["results"] for device in result["devices"]["results"]]


def number(value: int) -> JSON:
    return {"attributes": {"n": {"int": value}}}


def test_pools_and_slices_are_searched_in_the_order_of_their_names_and_binding_pools_last() -> None:
    binding = {"name": "x", "bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}
    slices = [
        pool_slice("s1", [binding], pool="pool-a"),
        pool_slice("s9", [{"name": "c"}], pool="pool-b", count=2),
        pool_slice("s3", [{"name": "b"}, {"name": "a"}], pool="pool-b", count=2),
    ]
    assert picked(cluster(slices, claim(request(count=4)))) == ["b", "a", "c", "x"]


def test_mode_all_under_a_violated_constraint_steps_back_and_with_bug_5_it_is_an_error() -> None:
    slices = [pool_slice("s", [{"name": "a", **number(1)}, {"name": "b", **number(2)}])]
    case = cluster(slices, claim(request(allocationMode="All"), constraints=[{"matchAttribute": f"{DRIVER}/n"}]))
    assert picked(case) == "none"
    assert picked(case, Bug.ALL_UNDER_CONSTRAINT) == "error"


def test_an_older_generation_is_never_used_and_with_bug_6_it_is() -> None:
    slices = [pool_slice("s1", [{"name": "old"}]), pool_slice("s2", [], {"nodeName": "node-2"}, generation=2)]
    assert picked(cluster(slices, claim(request()))) == "none"
    assert picked(cluster(slices, claim(request())), Bug.OLD_GENERATION) == ["old"]


def test_admin_access_blocks_nothing_and_with_bug_7_it_does() -> None:
    slices = [pool_slice("s", [{"name": "a"}])]
    case = cluster(slices, claim(request(adminAccess=True)), claim(request()))
    assert picked(case) == ["a", "a"]
    assert picked(case, Bug.ADMIN_ACCESS) == "none"
    within_one_claim = cluster(slices, claim(request("x", adminAccess=True), request("y")))
    assert picked(within_one_claim) == "none"


def test_a_node_selector_that_cannot_be_used_takes_out_its_device_and_with_bug_8_everything() -> None:
    broken = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["z1"]}]}]}
    devices = [{"name": "a", "nodeSelector": broken}, {"name": "b", "allNodes": True}]
    case = cluster([pool_slice("s", devices, {"perDeviceNodeSelection": True})], claim(request()))
    assert picked(case) == ["b"]
    assert picked(case, Bug.DEVICE_NODE_SELECTOR) == "error"


def test_ranges_of_integers_are_computed_in_integers_and_with_bug_9_in_thousandths() -> None:
    policy = {"default": "1Pi", "validRange": {"min": "1Pi", "step": "1Pi"}}
    device = {
        "name": "a",
        "allowMultipleAllocations": True,
        "capacity": {"m": {"value": "32Pi", "requestPolicy": policy}},
    }
    case = cluster([pool_slice("s", [device])], claim(request(capacity={"requests": {"m": "16Pi"}})))
    assert picked(case) == ["a"]
    assert picked(case, Bug.INTEGER_RANGE) == "error"


def test_a_share_of_a_device_that_is_shared_no_more_keeps_it_and_with_bug_15_it_does_not() -> None:
    share = {**identity("a"), "shareID": "1"}
    case = cluster([pool_slice("s", [{"name": "a"}])], claim(request()), allocatedSharedDeviceIDs=[share])
    assert picked(case) == "none"
    assert picked(case, Bug.FORGOTTEN_SHARE) == ["a"]


def test_nobody_joins_devices_that_contradict_each_other_and_with_bug_16_what_goes_with_the_first_does() -> None:
    def device(name: str, *groups: str) -> JSON:
        uses = {"counterSet": "set", "counters": {}, **({"compatibilityGroups": [*groups]} if groups else {})}
        return {"name": name, "consumesCounters": [uses]}

    counters = pool_slice("c", [], count=2, sharedCounters=[{"name": "set", "counters": {}}])
    held = [identity("a"), identity("b")]

    def case(*devices: JSON) -> JSON:
        return cluster([counters, pool_slice("s", [*devices], count=2)], claim(request()), allocatedDevices=held)

    with_group = case(device("a", "x"), device("b"), device("c", "x"), device("d"))
    assert picked(with_group) == "none"
    assert picked(with_group, Bug.UNGROUPED_FORGOTTEN) == ["c"]
    without = case(device("a"), device("b", "x"), device("c", "x"), device("d"))
    assert picked(without) == "none"
    assert picked(without, Bug.UNGROUPED_FORGOTTEN) == ["d"]


def test_every_modelled_bug_has_a_test_here() -> None:
    assert {int(bug) for bug in MODELLED} == {5, 6, 7, 8, 9, 15, 16}


def test_devices_that_are_held_are_not_picked_and_shares_add_up_to_the_capacity() -> None:
    shared = {"name": "s", "allowMultipleAllocations": True, "capacity": {"m": {"value": "8"}}}
    slices = [pool_slice("s", [{"name": "a"}, shared])]
    ask = request(capacity={"requests": {"m": "3"}})
    held = {"allocatedDevices": [identity("a")]}
    used = {"aggregatedCapacity": [{**identity("s"), "consumedCapacity": {"m": "3"}}]}
    assert picked(cluster(slices, claim(ask), claim(ask), **held)) == ["s", "s"]
    assert picked(cluster(slices, claim(ask), claim(ask), **held, **used)) == "none"
    assert picked(cluster(slices, claim(request()), **held, **used)) == "none"


@pytest.mark.parametrize(("groups", "found"), [((["x"], ["x", "y"]), ["a", "b"]), ((["x"], []), "none")])
def test_counters_and_compatibility_groups_bound_the_partitions_of_a_pool(
    groups: tuple[list[str], list[str]], found: list[str] | str
) -> None:
    def partition(name: str, own: list[str]) -> JSON:
        used = {"counterSet": "set", "counters": {"m": {"value": "2"}}, "compatibilityGroups": own}
        return {"name": name, "consumesCounters": [used]}

    sets = [{"name": "set", "counters": {"m": {"value": "4"}}}]
    devices = [partition("a", groups[0]), partition("b", groups[1])]
    slices = [pool_slice("s1", devices, count=2), pool_slice("s2", [], count=2, sharedCounters=sets)]
    assert picked(cluster(slices, claim(request(count=2)))) == found
    sets[0]["counters"] = {"m": {"value": "3"}}
    assert picked(cluster(slices, claim(request(count=2)))) == "none"


def test_selectors_decide_and_one_that_fails_is_an_error() -> None:
    slices = [pool_slice("s", [{"name": "a"}])]
    case = cluster(slices, claim(request(selectors=[{"cel": {"expression": "it"}}])))
    assert picked(case, oracle=Letters(it="T")) == ["a"]
    assert picked(case, oracle=Letters(it="F")) == "none"
    assert picked(case, oracle=Letters(it="E")) == "error"


def test_derived_attributes_are_seen_by_constraints() -> None:
    slices = [pool_slice("s", [{"name": "a"}, {"name": "b"}])]
    derived = [{"name": "d/x", "expression": "same"}]
    case = cluster(slices, claim(request(count=2, derivedAttributes=derived), constraints=[{"matchAttribute": "d/x"}]))
    assert picked(case) == ["a", "b"]
    case["claimsToAllocate"][0]["spec"]["devices"]["constraints"] = [{"distinctAttribute": "d/x"}]
    assert picked(case) == "none"


def test_incomplete_pools_give_nothing_and_invalid_ones_are_an_error_if_nothing_else_fits() -> None:
    assert picked(cluster([pool_slice("s", [{"name": "a"}], count=2)], claim(request()))) == "none"
    twice = [pool_slice("s", [{"name": "a"}, {"name": "a"}])]
    assert picked(cluster(twice, claim(request()))) == "error"
    other = pool_slice("t", [{"name": "b"}], pool="other")
    assert picked(cluster([*twice, other], claim(request()))) == ["b"]
    assert picked(cluster([*twice, other], claim(request(allocationMode="All")))) == "error"


def test_alternatives_are_tried_in_order_and_named_in_the_result() -> None:
    body = {"deviceClassName": "any", "allocationMode": "ExactCount"}
    subrequests = [{"name": "two", **body, "count": 2}, {"name": "one", **body, "count": 1}]
    case = cluster([pool_slice("s", [{"name": "a"}])], claim({"name": "r", "firstAvailable": subrequests}))
    (result,) = attempt(case, Letters())["results"]
    assert result["devices"]["results"][0]["request"] == "r/one"


@pytest.mark.parametrize(
    ("feature", "body"),
    [
        ("AdminAccess", {"adminAccess": True}),
        ("ConsumableCapacity", {"capacity": {"requests": {"m": "1"}}}),
        ("DerivedAttributes", {"derivedAttributes": [{"name": "d/x", "expression": "1"}]}),
    ],
)
def test_what_a_gate_switches_off_is_an_error(feature: str, body: JSON) -> None:
    case = cluster([pool_slice("s", [{"name": "a"}])], claim(request(**body)), features={feature: False})
    assert picked(case) == "error"


def test_taints_keep_out_what_does_not_tolerate_them() -> None:
    tainted = {"name": "a", "taints": [{"key": "broken", "value": "yes", "effect": "NoExecute"}]}
    slices = [pool_slice("s", [tainted])]
    assert picked(cluster(slices, claim(request()))) == "none"
    for toleration in ({"operator": "Exists"}, {"key": "broken", "value": "yes"}):
        assert picked(cluster(slices, claim(request(tolerations=[toleration])))) == ["a"]
    assert picked(cluster(slices, claim(request(tolerations=[{"key": "broken", "value": "no"}])))) == "none"
    assert picked(cluster(slices, claim(request()), features={"DeviceTaints": False})) == ["a"]


def test_too_many_combinations_give_no_opinion() -> None:
    slices = [pool_slice("s", [{"name": f"d{index:02}"} for index in range(24)])]
    with pytest.raises(TooManyStepsError):
        attempt(cluster(slices, claim(request("x", count=12)), claim(request("y", count=13))), Letters())


def test_amounts_are_exact() -> None:
    assert [amount(text) for text in ("1", "1500m", "2Ki", "1.5M", "-3n")] == [
        Fraction(1), Fraction(3, 2), Fraction(2048), Fraction(1_500_000), Fraction(-3, 10**9)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="not a quantity"):
        amount("1e3")


def test_a_request_is_rounded_up_to_the_next_step_or_value() -> None:
    stepped = {"value": "20", "requestPolicy": {"default": "1", "validRange": {"min": "1", "max": "7", "step": "3"}}}
    listed = {"value": "20", "requestPolicy": {"default": "2", "validValues": ["2", "4"]}}
    milli = Milli(enabled=True, integers_too=False)
    taken = consumption({"s": "2", "l": "3"}, {"s": stepped, "l": listed}, milli)
    assert taken == {"s": Fraction(4), "l": Fraction(4)}
    assert consumption({"s": "8"}, {"s": stepped}, milli) is None
    assert consumption({"gone": "1"}, {"s": stepped}, milli) is None
    with pytest.raises(NotRepresentableError):
        consumption({"s": "9223372036854775808"}, {"s": stepped}, milli)


@pytest.mark.parametrize(
    ("kind", "attributes", "lists", "expected"),
    [
        ("matchAttribute", [{"int": 1}, {"int": 1}], False, True),
        ("matchAttribute", [{"int": 1}, {"string": "1"}], True, False),
        ("matchAttribute", [{"ints": [1, 2]}, {"int": 2}, {"ints": [2, 3]}], True, True),
        ("matchAttribute", [{"ints": [1, 2]}, {"ints": [2, 3]}, {"ints": [1, 3]}], True, False),
        ("matchAttribute", [{"ints": [1]}], False, True),
        ("matchAttribute", [{"ints": [1]}, {"ints": [1]}], False, False),
        ("matchAttribute", [{"int": 1}, None], True, False),
        ("distinctAttribute", [{"int": 1}, {"int": 2}, {"int": 1}], True, False),
        ("distinctAttribute", [{"ints": [1, 2]}, {"int": 3}], True, True),
        ("distinctAttribute", [{"ints": [1]}, {"int": 1}], False, True),
    ],
)
def test_constraints_over_scalars_and_lists(
    kind: str, attributes: list[JSON | None], lists: bool, expected: bool
) -> None:
    assert holds({kind: "d/x"}, attributes, lists=lists) is expected
