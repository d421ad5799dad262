"""Helper cases: tables of Kubernetes' unit tests for single functions, each run through the function of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dra_allocator.capacity import MILLI, CapacityError, consumption, exact_milli, fits, rounded, unit_of, violates
from dra_allocator.claim import Toleration
from dra_allocator.device import DeviceCapacity, DeviceTaint
from dra_allocator.rules.fitness import is_tolerated
from dra_allocator.rules.groups import joined
from dra_api.decode.devices import device
from dra_api.errors import ApiError
from dra_bench.conformance.case import LEFT_OUT, Actual, CaseError
from dra_bench.conformance.claim_rows import CLAIM_ROWS, cannot_occur
from dra_cel.quantity import NANO, Quantity

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
    expected = "error" if fields.get("expectErr") else _plain(Quantity.parse(fields["expectResult"]))
    requested = None if asked is None else Quantity.parse(asked)
    try:
        amount = rounded(requested, _capacities({"c": capacity})["c"], bool(fields.get("fractionalCapacityRange")))
    except CapacityError:
        return expected, "error"
    return expected, _plain(amount)


def _plain(quantity: Quantity) -> str:
    """The value as a decimal, whatever suffix it is written with; a number would not fit JSON's integers."""
    whole, rest = divmod(abs(quantity.nanos), NANO)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{'-' if quantity.nanos < 0 else ''}{whole}{fraction}"


def _amounts(given: Mapping[str, Any] | None) -> dict[str, Quantity]:
    """The `requests` of a claim's capacity requirements."""
    requests = (given or {}).get("requests") or {}
    return {name: Quantity.parse(str(text)) for name, text in requests.items()}


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
    """What each capacity would take, whether or not a policy allows that."""
    fractional = bool(fields.get("fractionalCapacityRange"))
    asked = _amounts(fields.get("requestedCapacity"))
    expected = {name: _plain(Quantity.parse(text)) for name, text in fields["expectResult"].items()}
    offered = _capacities(fields["consumableCapacity"] or {})
    return expected, {name: _plain(rounded(asked.get(name), one, fractional)) for name, one in offered.items()}


def _over_capacity(fields: Fields) -> Answer:
    capacities = _capacities(fields["capacity"] or {})
    expected = "error" if fields.get("expectError") else bool(fields["expectResult"])
    try:
        amounts = consumption(_amounts(fields.get("request")), capacities, bool(fields.get("fractionalCapacityRange")))
    except CapacityError:
        return expected, "error"
    return expected, amounts is not None and fits(amounts, {}, capacities)


def _may_join(fields: Fields) -> Answer:
    common: frozenset[str] | None = None
    for member in fields.get("members") or ():
        common = joined(common, frozenset(member or ()))
        if common is None:
            return fields["expectResult"], "the members do not go together"
    return fields["expectResult"], joined(common, frozenset(fields.get("candidate") or ())) is not None


def _tolerated(fields: Fields) -> Answer:
    given, taint = fields["toleration"], fields["taint"]
    toleration = Toleration(
        given.get("key") or "", given.get("operator") or "Equal", given.get("value") or "", given.get("effect") or None
    )
    tainted = DeviceTaint(taint.get("key") or "", taint.get("value") or "", taint["effect"])
    return fields["expectTolerated"], is_tolerated(tainted, [toleration])


def _thousandths(fields: Fields) -> Answer:
    expected = None if fields.get("expectErr") else fields["expectMilli"]
    return expected, exact_milli(Quantity.parse(fields["q"]))


HELPERS: Mapping[str, Callable[[Fields], Answer]] = {
    **CLAIM_ROWS,
    "TestConsumableCapacity/safe-milli-value": _thousandths,
    "TestConsumableCapacity/calculate-consumed-capacity": _calculated,
    "TestConsumableCapacity/violate-capacity-sharing": _violated,
    "TestConsumableCapacity/use-milli": _in_thousandths,
    "TestConsumableCapacity/get-consumed-capacity-from-request": _whole_device,
    "TestConsumableCapacity/cmp-request-over-capacity-fatal-beats-soft": _over_capacity,
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
        """The row's name."""
        return str(self.raw["name"])

    @property
    def key(self) -> str:
        """The test and the row's name."""
        return f"{self.raw['test']}: {self.name}"

    def run(self) -> Actual:
        """Ask our function. Raises CaseError."""
        test = str(self.raw["test"])
        helper = HELPERS.get(test)
        if helper is None:
            return Actual(LEFT_OUT, error=NOT_OURS.get(test, "this runner does not know the test"))
        try:
            reason = cannot_occur(test, self.raw["fields"])
        except AttributeError as error:
            raise CaseError(f"fields cannot be read: {str(error) or 'something is missing'}") from error
        if reason is not None:
            return Actual(LEFT_OUT, error=reason)
        return Actual("results", results=self._answer(helper)[1])

    def differences(self, actual: Actual) -> list[str]:
        """Compare the two answers."""
        if actual.outcome == LEFT_OUT:
            return []
        expected, _ = self._answer(HELPERS[self.raw["test"]])
        return [] if expected == actual.results else [f"expected {expected}, got {actual.results}"]

    def _answer(self, helper: Callable[[Fields], Answer]) -> Answer:
        try:
            return helper(self.raw["fields"])
        except KeyError as error:
            raise CaseError(f"fields.{error.args[0]} is missing") from error
        except (AttributeError, TypeError, ValueError, AssertionError, ApiError) as error:
            raise CaseError(f"fields cannot be read: {str(error) or 'something is missing'}") from error
