"""Quantities as exact fractions, and how much of a capacity a request takes (KEP-5075)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

JSON = dict[str, Any]
LARGEST = 2**63 - 1
_SUFFIX = {suffix: Fraction(1000) ** (power - 3) for power, suffix in enumerate("num")} | {"": Fraction(1)}
_SUFFIX |= {suffix: Fraction(1000) ** (power + 1) for power, suffix in enumerate("kMGTPE")}
_SUFFIX |= {f"{suffix}i": Fraction(1024) ** (power + 1) for power, suffix in enumerate("KMGTPE")}
_TEXT = re.compile(r"([+-]?\d+(?:\.\d*)?)([a-zA-Z]*)")


class NotRepresentableError(Exception):
    """A request cannot be computed in a range's arithmetic: the attempt fails."""


def amount(text: str | int) -> Fraction:
    """The value of a quantity without an exponent; binary ones end at the largest integer."""
    found = _TEXT.fullmatch(str(text))
    if found is None:
        raise ValueError(f"not a quantity that the model reads: {text!r}")
    value = Fraction(found.group(1)) * _SUFFIX[found.group(2)]
    return min(value, Fraction(LARGEST)) if found.group(2).endswith("i") else value


def consumption(requested: Mapping[str, str], capacity: Mapping[str, JSON], milli: Milli) -> dict[str, Fraction] | None:
    """What a request takes of each capacity of a device; None: the device does not offer it.

    Raises NotRepresentableError, also where another capacity would not fit.
    """
    if any(name not in capacity for name in requested):
        return None
    taken = {name: _taken(requested.get(name), offered, milli) for name, offered in capacity.items()}
    if any(value < 0 for value in taken.values()):
        raise NotRepresentableError("a negative amount")
    fits = all(_allowed(taken[name], offered.get("requestPolicy") or {}, milli) for name, offered in capacity.items())
    return taken if fits else None


class Milli:
    """Which ranges are computed in thousandths: those with a fraction, if the feature is on."""

    def __init__(self, enabled: bool, *, integers_too: bool) -> None:
        self._enabled = enabled
        self._integers_too = integers_too

    def unit(self, limits: JSON) -> Fraction:
        """The unit of a range's arithmetic."""
        values = [amount(limits[key]) for key in ("min", "max", "step") if key in limits]
        thousandth = Fraction(1, 1000)
        exact = all((value / thousandth).denominator == 1 and value / thousandth <= LARGEST for value in values)
        fractional = any(value.denominator != 1 for value in values)
        if self._enabled and exact and (fractional or self._integers_too):
            return thousandth
        return Fraction(1)


def _taken(requested: str | None, offered: JSON, milli: Milli) -> Fraction:
    policy = offered.get("requestPolicy") or {}
    if requested is None:
        return amount(policy["default"] if "default" in policy else offered["value"])
    wanted = amount(requested)
    if "min" in policy.get("validRange", {}):
        return _rounded_up(wanted, policy["validRange"], milli.unit(policy["validRange"]))
    larger = [value for value in map(amount, policy.get("validValues", ())) if value >= wanted]
    return larger[0] if larger else wanted


def _rounded_up(wanted: Fraction, limits: JSON, unit: Fraction) -> Fraction:
    low = amount(limits["min"])
    if wanted < low:
        return low
    if "step" not in limits:
        return wanted
    if unit == 1 and wanted <= LARGEST:
        wanted, low = Fraction(-(-wanted // 1)), Fraction(-(-low // 1))
    if (wanted / unit).denominator != 1 or wanted / unit > LARGEST:
        raise NotRepresentableError(f"{wanted} in units of {unit}")
    step = -(-amount(limits["step"]) // unit) * unit
    rounded = low + -(-(wanted - low) // step) * step
    if rounded / unit > LARGEST:
        raise NotRepresentableError(f"{rounded} in units of {unit}")
    return rounded


def _allowed(taken: Fraction, policy: JSON, milli: Milli) -> bool:
    if "default" in policy and taken == amount(policy["default"]):
        return True
    if "validRange" in policy:
        limits = policy["validRange"]
        if "max" in limits and taken > amount(limits["max"]):
            return False
        if "step" not in limits:
            return True
        unit = milli.unit(limits)
        whole, low, step = (-(-value // unit) for value in (taken, amount(limits["min"]), amount(limits["step"])))
        return (whole - low) % step == 0
    if policy.get("validValues"):
        return taken in map(amount, policy["validValues"])
    return True
