"""What a request consumes of a device's capacities (KEP-5075, fractional ranges: Kubernetes 1.37). Pure arithmetic.

Names of capacities are the spellings of the slice; requests and results use them literally, as Kubernetes does.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_allocator.device import CapacityPolicy, CapacityRange, DeviceCapacity
from dra_allocator.errors import AllocatorError
from dra_cel.quantity import MAX_INT64, NANO, Quantity

MILLI = NANO // 1000


class CapacityError(AllocatorError, ValueError):
    """An amount cannot be computed with: whoever wrote the claim or the slice has to correct it."""


def consumption(
    requested: Mapping[str, Quantity], capacities: Mapping[str, DeviceCapacity], fractional: bool
) -> dict[str, Quantity] | None:
    """Return what a request consumes of each capacity of a device; None: the device cannot serve it.

    Args:
        requested: amounts by name; a capacity that is not named takes its default, or all there is.
        capacities: the device's, by the spelling of the slice.
        fractional: gate DRAFractionalCapacityRange.

    Raises:
        CapacityError: an amount is negative or too large. This wins over "cannot serve it".

    """
    if any(name not in capacities for name in requested):
        return None
    amounts: dict[str, Quantity] = {}
    for name, capacity in capacities.items():
        try:
            amount = rounded(requested.get(name), capacity, fractional)
        except CapacityError as error:
            raise CapacityError(f'capacity "{name}": {error}') from error
        if amount.nanos < 0:
            raise CapacityError(f'capacity "{name}": capacity value {amount} is negative')
        amounts[name] = amount
    if any(violates(amounts[name], capacity.policy, fractional) for name, capacity in capacities.items()):
        return None
    return amounts


def fits(amounts: Mapping[str, Quantity], used: Mapping[str, int], capacities: Mapping[str, DeviceCapacity]) -> bool:
    """Return whether the amounts fit beside what is used (nano-units by name)."""
    return all(amount.nanos + used.get(name, 0) <= capacities[name].value.nanos for name, amount in amounts.items())


def violates(amount: Quantity, policy: CapacityPolicy | None, fractional: bool) -> bool:
    """Return whether the policy does not allow this amount."""
    if policy is None or (policy.default is not None and amount == policy.default):
        return False
    if policy.valid_range is not None:
        return _violates_range(amount, policy.valid_range, fractional)
    return bool(policy.valid_values) and amount not in policy.valid_values


def rounded(requested: Quantity | None, capacity: DeviceCapacity, fractional: bool) -> Quantity:
    """Return the amount that stands for a request of one capacity: its default, or the next one that the policy allows.

    Whether the policy allows the result is another question: see `violates`. Raises CapacityError.
    """
    policy = capacity.policy
    if requested is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return requested
    if policy.valid_range is not None:
        return _round_up(requested, policy.valid_range, fractional)
    return next((value for value in policy.valid_values if requested <= value), requested)


def _round_up(requested: Quantity, valid: CapacityRange, fractional: bool) -> Quantity:
    """Return the least amount of the range that is not below the requested one."""
    if requested < valid.minimum:
        return valid.minimum
    if valid.step is None or valid.step.nanos <= 0:
        return requested
    unit = unit_of(valid, fractional)
    asked = _in_units(requested, unit)
    least, step = _in_units(valid.minimum, unit), _in_units(valid.step, unit)
    if asked > MAX_INT64 or (unit == MILLI and exact_milli(requested) is None):
        raise _not_representable(f"request {requested} does not fit the range's units")
    result = least - (least - asked) // step * step
    if result > MAX_INT64:
        raise _not_representable(f"rounding request {requested} up to the next step passes MaxInt64")
    return Quantity(result * unit, valid.step.format, 0 if result * unit % NANO == 0 else -3)


def _violates_range(amount: Quantity, valid: CapacityRange, fractional: bool) -> bool:
    if valid.maximum is not None and amount > valid.maximum:
        return True
    if valid.step is None or valid.step.nanos <= 0:
        return False
    unit = unit_of(valid, fractional)
    units = _in_units(amount, unit)
    if units > MAX_INT64 or (unit == MILLI and exact_milli(amount) is None):
        return True
    return (units - _in_units(valid.minimum, unit)) % _in_units(valid.step, unit) != 0


def unit_of(valid: CapacityRange, fractional: bool) -> int:
    """Return the unit in which a range is counted, in nano-units.

    Thousandths only where the gate is on, the range has fractions, and all of it is exact in 64 bits of thousandths:
    Kubernetes 1.37 takes them for ranges of integers too, which then fail above 9.2 * 10^15.
    """
    bounds = [bound for bound in (valid.minimum, valid.maximum, valid.step) if bound is not None]
    if not fractional or all(bound.nanos % NANO == 0 for bound in bounds):
        return NANO
    return NANO if any(exact_milli(bound) is None for bound in bounds) else MILLI


def exact_milli(quantity: Quantity) -> int | None:
    """Return a quantity in thousandths, None where these are not exact or need more than 64 bits."""
    whole, rest = divmod(quantity.nanos, MILLI)
    return None if rest or abs(whole) > MAX_INT64 else whole


def _in_units(quantity: Quantity, unit: int) -> int:
    return -(-quantity.nanos // unit)


def _not_representable(detail: str) -> CapacityError:
    return CapacityError(f"capacity request cannot be represented in the device's range arithmetic: {detail}")
