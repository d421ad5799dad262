"""Compatibility groups on one counter set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dra_allocator.rules.groups import Groups, joined
from support.conformance import NO_CONFORMANCE, conformance_cases
from support.devices import Cluster, claim, counter_set, counters, device, holding, picked, request, resource_slice

CASES = conformance_cases("compatibility-groups-cases.json")


@pytest.mark.skipif(not CASES, reason=NO_CONFORMANCE)
@pytest.mark.parametrize("case", CASES, ids=[f"{one['test']}-{one['name']}" for one in CASES])
def test_a_device_may_join_as_in_the_reference(case: Mapping[str, Any]) -> None:
    fields = case["fields"]
    members: Groups | None = None
    for one in fields["members"]:
        members = joined(members, frozenset(one))
        assert members is not None
    assert members is None or (sorted(members) or None) == fields["intersection"]
    assert (joined(members, frozenset(fields["candidate"])) is not None) == fields["expectResult"]


def test_members_that_do_not_go_together_let_nothing_more_in() -> None:
    devices = [
        device("a", consumes_counters=(counters("set", ("g",), slots=1),)),
        device("b", consumes_counters=(counters("set", ("h",), slots=1),)),
        device("c", consumes_counters=(counters("set", ("g", "h"), slots=1),)),
    ]
    cluster = Cluster(
        resource_slice("c", shared_counters=(counter_set("set", slots=9),), node="n1", slice_count=2),
        resource_slice("s", devices, node="n1", slice_count=2),
    )
    assert picked(cluster.allocate(claim(request(count=2)))) == [["a", "c"]]
    cluster.ledger.observe("one", holding("a", pool="n1"))
    assert picked(cluster.allocate()) == [["c"]]
    cluster.ledger.observe("two", holding("b", pool="n1"))
    assert not hasattr(cluster.allocate(), "claims")
