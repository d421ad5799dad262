"""Feature gates by their Kubernetes names."""

from __future__ import annotations

from dataclasses import fields

from dra_allocator.features import GATES, Features


def test_the_defaults_are_those_of_the_release() -> None:
    assert Features.from_gates({}) == Features()
    assert Features().partitionable_devices
    assert not Features().derived_attributes


def test_every_feature_has_a_gate() -> None:
    assert {entry.name for entry in fields(Features)} == set(GATES.values())
    assert Features.gate("admin_access") == "DRAAdminAccess"


def test_all_on_is_all_on() -> None:
    assert all(getattr(Features.all_on(), entry.name) for entry in fields(Features))


def test_gates_switch_features_and_unknown_gates_are_others_business() -> None:
    features = Features.from_gates({"DRADeviceTaints": False, "DRADerivedAttributes": True, "Other": True})
    assert not features.device_taints
    assert features.derived_attributes


def test_a_feature_without_its_prerequisite_is_off() -> None:
    features = Features.from_gates(
        {
            "DRADeviceCompatibilityGroups": True,
            "DRAPartitionableDevices": False,
            "DRAFractionalCapacityRange": True,
            "DRAConsumableCapacity": False,
            "DRAResourceClaimDeviceStatus": False,
        }
    )
    assert not features.compatibility_groups
    assert not features.fractional_capacity_range
    assert not features.binding_conditions
