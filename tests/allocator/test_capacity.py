"""What requests consume of capacities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dra_allocator.capacity import MILLI, CapacityError, consumption, exact_milli, fits, unit_of, violates
from dra_allocator.device import CapacityPolicy, CapacityRange, DeviceCapacity
from dra_cel.quantity import NANO, Quantity
from support.conformance import NO_CONFORMANCE, conformance_cases

CASES = {
    (one["test"].partition("/")[2], one["name"]): one for one in conformance_cases("consumable-capacity-cases.json")
}
needs_data = pytest.mark.skipif(not CASES, reason=NO_CONFORMANCE)

INTEGERS_ONLY = "all integer, fits in milli (no hasFractional gate any more)"
"""Kubernetes counts ranges of integers in thousandths too, and so refuses large ones. We count them in units."""


def quantity(text: str | None) -> Quantity | None:
    return None if text is None else Quantity.parse(text)


def policy(data: Mapping[str, Any] | None) -> CapacityPolicy | None:
    if data is None:
        return None
    values = tuple(Quantity.parse(text) for text in data.get("validValues") or ())
    valid = data.get("validRange")
    return CapacityPolicy(quantity(data.get("default")), values, None if valid is None else valid_range(valid))


def valid_range(data: Mapping[str, Any]) -> CapacityRange:
    return CapacityRange(Quantity.parse(data["min"]), quantity(data.get("max")), quantity(data.get("step")))


def cases(test: str) -> list[Any]:
    return [pytest.param(one["fields"], id=name) for (kind, name), one in CASES.items() if kind == test]


@needs_data
@pytest.mark.parametrize("fields", cases("calculate-consumed-capacity"))
def test_amounts_are_those_of_the_reference(fields: Mapping[str, Any]) -> None:
    capacity = {"c": DeviceCapacity(Quantity.parse(fields["capacityValue"]), policy(fields["requestPolicy"]), "c")}
    requested = {} if fields["requestedVal"] is None else {"c": Quantity.parse(fields["requestedVal"])}
    if fields["expectErr"]:
        with pytest.raises(CapacityError, match="cannot be represented"):
            consumption(requested, capacity, fields["fractionalCapacityRange"])
        return
    amounts = consumption(requested, capacity, fields["fractionalCapacityRange"])
    if amounts is None:
        assert violates(Quantity.parse(fields["expectResult"]), capacity["c"].policy, False)
    else:
        assert str(amounts["c"]) == fields["expectResult"]


@needs_data
@pytest.mark.parametrize("fields", cases("violate-capacity-sharing"))
def test_policies_are_violated_as_in_the_reference(fields: Mapping[str, Any]) -> None:
    amount, fractional = Quantity.parse(fields["requestedVal"]), fields["fractionalCapacityRange"]
    assert violates(amount, policy(fields["requestPolicy"]), fractional) == fields["expectResult"]


@needs_data
@pytest.mark.parametrize(
    ("name", "fields"), [(name, one["fields"]) for (kind, name), one in CASES.items() if kind == "use-milli"]
)
def test_ranges_with_fractions_are_counted_in_thousandths(name: str, fields: Mapping[str, Any]) -> None:
    expected = fields["expectUseMilli"] and name != INTEGERS_ONLY
    assert (unit_of(valid_range(fields["validRange"]), fields["fractionalCapacityRange"]) == MILLI) == expected


@needs_data
@pytest.mark.parametrize("fields", cases("safe-milli-value"))
def test_thousandths_are_exact_or_refused(fields: Mapping[str, Any]) -> None:
    assert exact_milli(Quantity.parse(fields["q"])) == fields["expectMilli"]


@needs_data
@pytest.mark.parametrize("fields", cases("get-consumed-capacity-from-request"))
def test_all_capacities_are_consumed_not_only_those_asked_for(fields: Mapping[str, Any]) -> None:
    capacities = {
        name: DeviceCapacity(Quantity.parse(one["value"]), policy(one.get("requestPolicy")), name)
        for name, one in fields["consumableCapacity"].items()
    }
    requested = {name: Quantity.parse(text) for name, text in fields["requestedCapacity"]["requests"].items()}
    amounts = consumption(requested, capacities, fields["fractionalCapacityRange"])
    assert {name: str(amount) for name, amount in (amounts or {}).items()} == fields["expectResult"]


def test_an_error_wins_over_not_enough() -> None:
    step = CapacityPolicy(valid_range=CapacityRange(Quantity.from_int(0), None, Quantity.from_int(2)))
    capacities = {
        "a": DeviceCapacity(Quantity.from_int(1), CapacityPolicy(valid_values=(Quantity.from_int(9),)), "a"),
        "b": DeviceCapacity(Quantity.from_int(2**63), step, "b"),
    }
    with pytest.raises(CapacityError, match=r'capacity "b".*cannot be represented'):
        consumption({"a": Quantity.from_int(2), "b": Quantity.from_int(2**63 - 1)}, capacities, False)


def test_a_negative_amount_is_an_error() -> None:
    with pytest.raises(CapacityError, match='capacity "a": capacity value -1 is negative'):
        consumption({"a": Quantity.parse("-1")}, {"a": DeviceCapacity(Quantity.from_int(1), None, "a")}, False)


def test_a_large_range_of_integers_works_with_the_gate_for_fractions_on() -> None:
    step = CapacityPolicy(valid_range=CapacityRange(Quantity.parse("1Pi"), None, Quantity.parse("1Pi")))
    amounts = consumption({"a": Quantity.parse("16Pi")}, {"a": DeviceCapacity(Quantity.parse("32Pi"), step, "a")}, True)
    assert amounts is not None
    assert str(amounts["a"]) == "16Pi"


def test_a_device_without_the_capacity_cannot_serve() -> None:
    assert consumption({"a": Quantity.from_int(1)}, {}, False) is None


def test_fits_beside_what_is_used() -> None:
    capacities = {"a": DeviceCapacity(Quantity.from_int(3), None, "a")}
    assert fits({"a": Quantity.from_int(2)}, {"a": NANO}, capacities)
    assert not fits({"a": Quantity.from_int(2)}, {"a": NANO + 1}, capacities)
