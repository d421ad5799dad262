"""Helper cases: tables of Kubernetes' unit tests for single functions, each run through the function of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dra_allocator.capacity import MILLI, CapacityError, consumption, exact_milli, rounded, unit_of, violates
from dra_allocator.claim import Toleration
from dra_allocator.device import DeviceCapacity, DeviceTaint
from dra_allocator.rules.fitness import is_tolerated
from dra_allocator.rules.groups import joined
from dra_api.decode.devices import device
from dra_bench.conformance.case import LEFT_OUT, Actual
from dra_bench.conformance.claim_rows import CANNOT_OCCUR, CLAIM_ROWS
from dra_cel.quantity import Quantity

Fields = Mapping[str, Any]
Answer = tuple[Any, Any]
"""What is expected and what we say, both ready to compare."""


def _capacities(given: Mapping[str, Any]) -> dict[str, DeviceCapacity]:
    """Capacities by their published name, decoded as those of a device."""
    decoded = device({"name": "device", "capacity": given}, "driver", per_device_scope=False).capacity
    return {capacity.published: capacity for capacity in decoded.values()}


def _calculated(fields: Fields) -> Answer:
    capacity: dict[str, Any] = {"value": fields["capacityValue"]}
    if fields.get("requestPolicy"):
        capacity["requestPolicy"] = fields["requestPolicy"]
    asked = fields.get("requestedVal")
    expected = "error" if fields.get("expectErr") else _nanos(fields["expectResult"])
    requested = None if asked is None else Quantity.parse(asked)
    try:
        amount = rounded(requested, _capacities({"c": capacity})["c"], bool(fields.get("fractionalCapacityRange")))
    except CapacityError:
        return expected, "error"
    return expected, amount.nanos


def _nanos(text: str) -> int:
    return Quantity.parse(text).nanos


def _violated(fields: Fields) -> Answer:
    given = {"value": "1", **({"requestPolicy": fields["requestPolicy"]} if fields.get("requestPolicy") else {})}
    policy = _capacities({"c": given})["c"].policy
    fractional = bool(fields.get("fractionalCapacityRange"))
    asked = Quantity.parse(fields["requestedVal"]) if fields.get("requestedVal") is not None else Quantity.parse("0")
    return fields["expectResult"], violates(asked, policy, fractional)


def _in_thousandths(fields: Fields) -> Answer:
    capacity = _capacities({"c": {"value": "1", "requestPolicy": {"validRange": fields["validRange"]}}})["c"]
    assert capacity.policy is not None
    assert capacity.policy.valid_range is not None
    fractional = bool(fields["fractionalCapacityRange"])
    return fields["expectUseMilli"], unit_of(capacity.policy.valid_range, fractional) == MILLI


def _whole_device(fields: Fields) -> Answer:
    asked = {name: Quantity.parse(text) for name, text in fields["requestedCapacity"]["requests"].items()}
    amounts = consumption(asked, _capacities(fields["consumableCapacity"]), False)
    expected = {name: _nanos(text) for name, text in fields["expectResult"].items()}
    return expected, None if amounts is None else {name: amount.nanos for name, amount in amounts.items()}


def _fatal_beats_soft(fields: Fields) -> Answer:
    asked = {name: Quantity.parse(text) for name, text in fields["request"]["requests"].items()}
    try:
        consumption(asked, _capacities(fields["capacity"]), bool(fields["fractionalCapacityRange"]))
    except CapacityError:
        return True, True
    return bool(fields["expectError"]), False


def _may_join(fields: Fields) -> Answer:
    common: frozenset[str] | None = None
    for member in fields["members"]:
        common = joined(common, frozenset(member))
        if common is None:
            return fields["expectResult"], "the members do not go together"
    return fields["expectResult"], joined(common, frozenset(fields["candidate"])) is not None


def _tolerated(fields: Fields) -> Answer:
    given, taint = fields["toleration"], fields["taint"]
    toleration = Toleration(
        given.get("key", ""), given.get("operator", "Equal"), given.get("value", ""), given.get("effect") or None
    )
    tainted = DeviceTaint(taint.get("key", ""), taint.get("value", ""), taint["effect"])
    return fields["expectTolerated"], is_tolerated(tainted, [toleration])


def _thousandths(fields: Fields) -> Answer:
    expected = None if fields["expectErr"] else fields["expectMilli"]
    return expected, exact_milli(Quantity.parse(fields["q"]))


HELPERS: Mapping[str, Callable[[Fields], Answer]] = {
    **CLAIM_ROWS,
    "TestConsumableCapacity/safe-milli-value": _thousandths,
    "TestConsumableCapacity/calculate-consumed-capacity": _calculated,
    "TestConsumableCapacity/violate-capacity-sharing": _violated,
    "TestConsumableCapacity/use-milli": _in_thousandths,
    "TestConsumableCapacity/get-consumed-capacity-from-request": _whole_device,
    "TestConsumableCapacity/cmp-request-over-capacity-fatal-beats-soft": _fatal_beats_soft,
    "TestCompatibilityGroupIntersectionAdmits": _may_join,
    "TestCompatibilityGroupIntersectionNoGroupsStacking": _may_join,
    "TestCompatibilityGroupIntersectionRolling": _may_join,
    "TestTolerationToleratesTaint": _tolerated,
}
"""Kubernetes' test to how we answer it."""

NOT_OURS: Mapping[str, str] = {
    "TestBaseRequestRef": "drivers ask which request a subrequest belongs to; a scheduler only writes the reference",
    "TestConfigForResult": "drivers and kubelets pick the configuration of a device; a scheduler only writes all of it",
}
"""Kubernetes' tests of what nothing of ours has to do, with the reason."""


@dataclass(frozen=True, slots=True)
class HelperCase:
    """One row of such a table."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The test and the row's name."""
        return f"{self.raw['test']}: {self.raw['name']}"

    def run(self) -> Actual:
        """Ask our function."""
        reason = NOT_OURS.get(self.raw["test"]) or CANNOT_OCCUR.get(self.name)
        if reason is not None:
            return Actual(LEFT_OUT, error=reason)
        helper = HELPERS.get(self.raw["test"])
        if helper is None:
            return Actual(LEFT_OUT, error="this runner does not know the test")
        return Actual("results", results=helper(self.raw["fields"])[1])

    def differences(self, actual: Actual) -> list[str]:
        """Compare the two answers."""
        if actual.outcome == LEFT_OUT:
            return []
        expected, _ = HELPERS[self.raw["test"]](self.raw["fields"])
        return [] if expected == actual.results else [f"expected {expected}, got {actual.results}"]
