"""Capacities of a device and the policies for requests of shares of them (KEP-5075)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dra_api.decode.values import check_quantity, optional_quantity
from dra_api.validation.errors import forbidden, invalid, required
from dra_api.validation.formats import qualified_name
from dra_api.validation.lists import Errors, Raw, unique_items
from dra_api.validation.rules import Rules
from dra_cel.quantity import Quantity

MAX_OPTIONS = 10
"""Valid values of one policy."""

_INT64_MAX = 2**63 - 1
_NANOS = 10**9
_NANOS_PER_MILLI = 10**6


def capacities(path: str, device: Raw, rules: Rules) -> Errors:
    """Check the capacities of a new or changed device."""
    for name, capacity in (device.get("capacity") or {}).items():
        yield from qualified_name(path, name)
        policy = capacity.get("requestPolicy")
        where = f"{path}[{name}].requestPolicy"
        if policy is None:
            continue
        if not device.get("allowMultipleAllocations"):
            yield forbidden(where, "allowMultipleAllocations must be true")
        else:
            total = check_quantity("value", capacity.get("value") or 0)
            yield from _policy(where, total, policy, rules.features.fractional_capacity_range)


def _policy(path: str, total: Quantity, policy: Raw, fractional: bool) -> Errors:
    options = [check_quantity("validValues", value) for value in policy.get("validValues") or ()]
    allowed = policy.get("validRange")
    default = optional_quantity(policy, "default")
    if options and allowed is not None:
        text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        yield forbidden(path, text)
    elif options:
        if default is None:
            yield required(f"{path}.default", "required when validValues is defined")
        else:
            yield from _options(f"{path}.validValues", default, total, options, fractional)
    elif allowed is not None:
        if default is None:
            yield required(f"{path}.default", "required when validRange is defined")
        else:
            yield from _range(f"{path}.validRange", default, total, allowed, fractional)


def _options(path: str, default: Quantity, total: Quantity, options: Sequence[Quantity], fractional: bool) -> Errors:
    for i, (left, right) in enumerate(pairwise(options)):
        if right < left:
            yield invalid(f"{path}[{i + 1}]", str(right), "values must be sorted in ascending order")

    def option(at: str, value: Quantity) -> Errors:
        if total < value:
            yield invalid(at, str(value), f"option is larger than capacity value: {total}")

    def key(value: Quantity) -> str:
        return str(value) if fractional else str(value.value())

    yield from unique_items(path, options, MAX_OPTIONS, option, key)
    if default not in options or len(options) > MAX_OPTIONS:
        yield invalid(path, str(default), "default value is not valid according to the requestPolicy")


def _range(path: str, default: Quantity, total: Quantity, allowed: Raw, fractional: bool) -> Errors:
    least, most, step = (optional_quantity(allowed, name) for name in ("min", "max", "step"))
    if least is None:
        yield required(f"{path}.min", "required when validRange is defined")
        return
    if total < least:
        yield invalid(f"{path}.min", str(least), f"min is larger than capacity value: {total}")
    if default < least:
        yield invalid(f"{path}.default", str(default), f"default is less than min: {least}")
    if most is not None:
        if most < least:
            yield invalid(f"{path}.max", str(least), f"min is larger than max: {most}")
        if total < most:
            yield invalid(f"{path}.max", str(most), f"max is larger than capacity value: {total}")
        if most < default:
            yield invalid(f"{path}.default", str(default), f"default is more than max: {most}")
    bounds = {"default": default, "min": least, "max": most, "step": step}
    present = {name: bound for name, bound in bounds.items() if bound is not None}
    in_milli = fractional and any(bound.nanos % _NANOS for bound in present.values())
    unsafe = list(_not_milli(path, present)) if in_milli else []
    yield from unsafe
    if step is not None and not unsafe:
        yield from _step(path, total, present, in_milli)


def _not_milli(path: str, bounds: dict[str, Quantity]) -> Errors:
    for name, bound in bounds.items():
        if bound.nanos % _NANOS_PER_MILLI or abs(bound.nanos // _NANOS_PER_MILLI) > _INT64_MAX:
            yield invalid(f"{path}.{name}", str(bound), "value cannot be represented as a milli value")


def _step(path: str, total: Quantity, bounds: dict[str, Quantity], in_milli: bool) -> Errors:
    step, least = bounds["step"], bounds["min"]
    if step.sign <= 0:
        yield invalid(f"{path}.step", str(step), "must be greater than zero")
        return
    added = least.add(step)
    if total < added:
        yield invalid(f"{path}.step", str(step), f"one step {added} is larger than capacity value: {total}")
    unsafe = [] if in_milli else list(_not_int64(path, bounds))
    yield from unsafe
    if unsafe:
        return
    unit = Quantity.milli_value if in_milli else Quantity.value
    for name in ("default", "max"):
        if name in bounds and (unit(bounds[name]) - unit(least)) % unit(step):
            value = str(bounds[name])
            yield invalid(f"{path}.step", value, f"value is not a multiple of a given step ({step}) from ({least})")


def _not_int64(path: str, bounds: dict[str, Quantity]) -> Errors:
    for name, bound in bounds.items():
        if bound.sign < 0:
            yield invalid(f"{path}.{name}", str(bound), "must be greater than or equal to 0")
        elif bound.nanos > _INT64_MAX * _NANOS:
            yield invalid(f"{path}.{name}", str(bound), f"must not be larger than {_INT64_MAX}")
