"""Feature gates: Kubernetes' names, the server version's defaults, and what excludes what."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from dra_allocator.features import GATES, Features
from dra_api.transport import Response
from dra_scheduler.feature_gates import NEEDS, OURS, FeatureGateError, FeatureGates, check, known_names, parse_gates
from dra_scheduler.settings import Settings
from support.faulty import Faulty, status
from support.stage import Stage, on_stage


@pytest.mark.parametrize(
    ("gate", "minor", "expected"),
    [
        ("DRAAdminAccess", 31, False),
        ("DRAAdminAccess", 33, False),
        ("DRAAdminAccess", 34, True),
        ("DRAConsumableCapacity", 35, False),
        ("DRAConsumableCapacity", 36, True),
        ("DRADeviceTaintRules", 34, False),
        ("DRADeviceTaintRules", 36, False),
        ("DRADeviceTaintRules", 37, True),
        ("DRADerivedAttributes", 37, False),
        ("DRAFractionalCapacityRange", 37, False),
        ("DynamicResourceAllocation", 31, True),
        ("GenericWorkload", 37, False),
        ("DRAExtendedResource", 38, True),
    ],
)
def test_a_gate_that_is_not_named_has_its_default_in_the_servers_version(gate: str, minor: int, expected: bool) -> None:
    assert FeatureGates.of({}, minor).enabled(gate) is expected


def test_what_is_asked_for_is_on_also_on_a_server_whose_version_lacks_it() -> None:
    assert FeatureGates.of({"DRAConsumableCapacity": True}, 33).features().consumable_capacity


def test_taint_rules_had_no_gate_of_their_own_before_1_35() -> None:
    assert FeatureGates.of({"DRADeviceTaints": True}, 34).enabled("DRADeviceTaintRules")
    assert not FeatureGates.of({"DRADeviceTaints": True}, 36).enabled("DRADeviceTaintRules")


def test_the_allocators_features_of_the_newest_version_are_its_defaults() -> None:
    assert FeatureGates.of({}, 37).features() == Features()


def test_gates_that_have_given_features_have_them() -> None:
    for features in (Features(), Features.all_on()):
        assert FeatureGates.having(features).features() == features


def test_every_gate_of_the_allocator_and_every_prerequisite_is_one_of_ours_and_known_to_kubernetes() -> None:
    needed = {gate for wanted in NEEDS.values() for gate in wanted}
    assert set(GATES) | needed | set(NEEDS) <= set(OURS) <= known_names()


def test_a_gate_whose_prerequisite_is_off_by_default_is_off() -> None:
    assert not FeatureGates.of({"DRAWorkloadResourceClaims": True}, 37).enabled("DRAWorkloadResourceClaims")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"DRADerivedAttribute": True},
            "unknown feature gate 'DRADerivedAttribute'; did you mean DRADerivedAttributes?",
        ),
        ({"Qqqq": True}, "unknown feature gate 'Qqqq'; those that decide something here are DRAAdminAccess, "),
        ({"DynamicResourceAllocation": False}, "leaves this scheduler nothing to do"),
        (
            {"DRAFractionalCapacityRange": True, "DRAConsumableCapacity": False},
            "DRAFractionalCapacityRange=true needs DRAConsumableCapacity=true, which is given as false",
        ),
    ],
)
def test_gates_that_cannot_be_had_are_refused_with_the_reason(overrides: dict[str, bool], message: str) -> None:
    with pytest.raises(FeatureGateError, match=re.escape(message)):
        check(overrides)
    with pytest.raises(ValidationError):
        Settings(feature_gates=overrides)


def test_gates_of_other_components_are_accepted_and_change_nothing() -> None:
    others = parse_gates("PodSchedulingReadiness=true,InPlacePodVerticalScaling=false,DRAControlPlaneController=false")
    assert FeatureGates.of(others, 37) == FeatureGates.of({}, 37)


def test_all_gates_of_a_stage_are_switched_together_and_single_ones_win() -> None:
    gates = FeatureGates.of({"AllAlpha": True, "DRAListTypeAttributes": False, "AllBeta": False}, 37)
    assert gates.enabled("DRADerivedAttributes")
    assert not gates.enabled("DRAListTypeAttributes")
    assert not gates.enabled("DRAConsumableCapacity")
    assert gates.enabled("DRAAdminAccess")


def test_what_the_server_says_of_itself_counts_more_than_its_version_and_less_than_what_is_asked_for() -> None:
    server = {"DRADeviceTaints": True, "GenericWorkload": True, "DRAPrioritizedList": False}
    gates = FeatureGates.of({"GenericWorkload": False}, 34, server)
    assert gates.enabled("DynamicResourceAllocation")
    assert gates.enabled("DRADeviceTaintRules")
    assert not gates.enabled("GenericWorkload")
    assert not gates.enabled("DRAPrioritizedList")
    assert not gates.enabled("DRAAdminAccess"), "on by default in 1.34, but this server does not know it"


@pytest.mark.parametrize("readable", [True, False])
def test_the_scheduler_asks_the_server_where_it_may(readable: bool) -> None:
    async def play(stage: Stage) -> bool:
        transport = Faulty(stage.transport)
        text = b'kubernetes_feature_enabled{name="GenericWorkload",stage="BETA"} 1\n'
        transport.fail("GET /metrics", Response(200, text) if readable else status(403, "Forbidden"))
        await stage.start(transport)
        await stage.settle()
        assert stage.scheduler is not None
        return stage.scheduler.cluster.gates.enabled("GenericWorkload")

    assert on_stage(play, start=False) is readable
