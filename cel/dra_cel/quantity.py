"""Kubernetes quantities (apimachinery `resource.Quantity`), exact and of bounded cost.

Facts: a fraction of a nano-unit is rounded away from zero; a binary quantity (Ki, Mi, ...) is capped
at 2^63-1; `isInteger` and `asInteger` look at how the value is held (unscaled * 10^scale in 64 bits),
not only at the value, so `1.0` is no integer to them.
"""

from __future__ import annotations

import enum
import functools
import re
from dataclasses import dataclass

from dra_cel.errors import CelError

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)
NANO = 10**9
MAX_EXPONENT = 4096
"""Decimal exponents beyond this are refused: nothing real needs them, and they cost memory."""

# Possessive, so that a long text that is no quantity is refused in linear time.
_TEXT = re.compile(r"([+-]?+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+)([+-]?+[0-9]*+)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {exponent: suffix for suffix, exponent in _BINARY.items()}
_FAST_DIGITS = 18
_LIMB = 10**4000


class QuantityError(CelError, ValueError):
    """The text is no Kubernetes quantity; whoever wrote it has to correct it."""


class Format(enum.Enum):
    """How a quantity is printed."""

    BINARY_SI = "BinarySI"
    DECIMAL_SI = "DecimalSI"
    DECIMAL_EXPONENT = "DecimalExponent"


@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Quantity:
    """An exact amount. Equality, order and hash go by value: 80Gi = 81920Mi.

    Attributes:
        nanos: the value * 10^9.
        format: the family of suffixes it is printed with.
        scale: the power of ten of the unit in which Kubernetes holds the value.
        compact: whether Kubernetes holds it as a 64-bit number of that unit (else as a big decimal).

    """

    nanos: int
    format: Format = Format.DECIMAL_SI
    scale: int = 0
    compact: bool = True
    computed: bool = False

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Parse `80Gi`, `1500m`, `1e3`, ...

        Raises:
            QuantityError: the text is no quantity, or its exponent is beyond +-4096.

        """
        match = _TEXT.fullmatch(text)
        if match is None or not text:
            raise QuantityError(f"quantity {text[:80]!r} must be a number with an optional suffix, as in 80Gi")
        sign, whole, fraction, letters, exponent_text = match.groups()
        base, exponent, form = _interpret_suffix(text, letters, exponent_text)
        has_digits = bool(whole or fraction)
        whole = whole.lstrip("0") or "0"
        fraction = fraction or ""
        result = _parse_compact(whole, fraction, base, exponent, form)
        if result is None:
            # Kubernetes reads a lone point as 0 where it fits in 64 bits (`.Ti`), and refuses it beyond (`.Pi`).
            if not has_digits:
                raise QuantityError(f"quantity {text[:80]!r} has no digits before its suffix")
            result = _parse_big(whole, fraction, base, exponent, form)
        return Quantity(-result.nanos, result.format, result.scale, result.compact) if sign == "-" else result

    @classmethod
    def from_int(cls, value: int, form: Format = Format.DECIMAL_SI) -> Quantity:
        """Return a whole number of units."""
        return cls(value * NANO, form, 0, MIN_INT64 <= value <= MAX_INT64)

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.nanos > 0) - (self.nanos < 0)

    def value(self) -> int:
        """Return whole units, rounded up (away from zero), as Kubernetes' Value()."""
        return _divide_up(self.nanos, NANO)

    def milli_value(self) -> int:
        """Return thousandths of a unit, rounded up (away from zero), as Kubernetes' MilliValue()."""
        return _divide_up(self.nanos, NANO // 1000)

    def as_int64(self) -> int | None:
        """Return the value where Kubernetes' AsInt64 can, else None."""
        if not self.compact or self.scale < 0:
            return None
        whole = self.nanos // NANO
        return whole if MIN_INT64 <= whole <= MAX_INT64 else None

    def approximate_float(self) -> float:
        """Return the value as a double, rounded the way AsApproximateFloat64 does it."""
        unscaled = _unscale(self.nanos, self.scale)
        try:
            return float(unscaled) if self.scale == 0 else float(unscaled) * 10.0**self.scale
        except OverflowError:
            return float("inf") if unscaled > 0 else float("-inf")

    def add(self, other: Quantity) -> Quantity:
        """Return the exact sum; zero takes the other's format."""
        return self._plus(other.nanos, other)

    def sub(self, other: Quantity) -> Quantity:
        """Return the exact difference; zero takes the other's format."""
        return self._plus(-other.nanos, other)

    def _plus(self, nanos: int, other: Quantity) -> Quantity:
        form = self.format if self.nanos else other.format
        total = self.nanos + nanos
        if self.compact and other.compact:
            if nanos == 0:
                return Quantity(total, form, self.scale, True)
            scale = other.scale if self.nanos == 0 else min(self.scale, other.scale)
            if MIN_INT64 <= _unscale(total, scale) <= MAX_INT64:
                return Quantity(total, form, scale, True)
        return Quantity(total, form, min(self.scale, other.scale), False)

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash((Quantity, self.nanos))

    def __repr__(self) -> str:
        """Return value and format, which tell apart what prints differently."""
        return f"Quantity(nanos={_digits(self.nanos)}, format={self.format!r})"

    def __str__(self) -> str:
        """Return the canonical Kubernetes form."""
        if self.nanos == 0:
            return "0"
        form = self.format
        whole, rest = divmod(self.nanos, NANO)
        if form is Format.BINARY_SI and not rest and abs(whole) >= 1024:
            exponent = 0
            while exponent < 60 and whole % 1024 == 0:
                whole //= 1024
                exponent += 10
            return f"{whole}{_BINARY_SUFFIX.get(exponent, '')}"
        mantissa, exponent = _canonical_decimal(self.nanos)
        if form is Format.DECIMAL_EXPONENT or exponent not in _DECIMAL_SUFFIX:
            return f"{_digits(mantissa)}e{exponent}" if exponent else _digits(mantissa)
        return f"{_digits(mantissa)}{_DECIMAL_SUFFIX[exponent]}"


def _interpret_suffix(text: str, letters: str, digits: str) -> tuple[int, int, Format]:
    if not digits:
        if letters in _DECIMAL:
            return 10, _DECIMAL[letters], Format.DECIMAL_SI
        if letters in _BINARY:
            return 2, _BINARY[letters], Format.BINARY_SI
    elif letters in ("e", "E") and digits not in ("+", "-"):
        size = digits.lstrip("+-0") or "0"  # CPython reads 4,300 digits at most, leading zeros included
        if len(size) > len(str(MAX_EXPONENT)) or int(size) > MAX_EXPONENT:
            raise QuantityError(f"quantity {text[:80]!r}: exponents beyond {MAX_EXPONENT} are not supported")
        return 10, -int(size) if digits[0] == "-" else int(size), Format.DECIMAL_EXPONENT
    raise QuantityError(
        f"quantity {text[:80]!r}: unknown suffix {(letters + digits)[:40]!r}; use n u m k M G T P E, Ki..Ei or e3"
    )


def _parse_compact(whole: str, fraction: str, base: int, exponent: int, form: Format) -> Quantity | None:
    """Return the quantity if Kubernetes would hold it in 64 bits, without its sign."""
    if base == 2:
        if fraction or 15 - len(whole) - exponent * 3 // 10 - 1 < 0:
            return None
        value = int(whole) << exponent
        return Quantity(value * NANO, form) if value <= MAX_INT64 else None
    scale = exponent - len(fraction)
    if len(whole) + len(fraction) > _FAST_DIGITS or scale < -9:
        return None
    return Quantity(int(whole + fraction) * 10 ** (scale + 9), form, scale)


def _parse_big(whole: str, fraction: str, base: int, exponent: int, form: Format) -> Quantity:
    """Return the quantity that Kubernetes holds as a big decimal, without its sign."""
    shift = len(fraction)
    unscaled = _digits_to_int(whole + fraction)
    if base == 2:
        unscaled <<= exponent
    else:
        shift -= exponent
    nanos = unscaled * 10 ** (9 - shift) if shift <= 9 else _divide_up(unscaled, 10 ** (shift - 9))
    if form is Format.BINARY_SI:
        if nanos > MAX_INT64 * NANO:
            return Quantity(MAX_INT64 * NANO, form, 0, False)
        if 0 < nanos < NANO:
            form = Format.DECIMAL_SI
    return Quantity(nanos, form, -9, False)


def _digits_to_int(digits: str) -> int:
    """Like int(digits), also beyond CPython's limit of 4,300 digits."""
    chunk = 4000
    value = 0
    for start in range(0, len(digits), chunk):
        part = digits[start : start + chunk]
        value = value * 10 ** len(part) + int(part)
    return value


def _digits(value: int) -> str:
    """Like str(value), also beyond CPython's limit of 4,300 digits."""
    if abs(value) < _LIMB:
        return str(value)
    limbs = []
    rest = abs(value)
    while rest:
        rest, limb = divmod(rest, _LIMB)
        limbs.append(f"{limb:04000d}")
    return ("-" if value < 0 else "") + "".join(reversed(limbs)).lstrip("0")


def _divide_up(value: int, divisor: int) -> int:
    """Divide, rounding away from zero."""
    magnitude = -(-abs(value) // divisor)
    return magnitude if value >= 0 else -magnitude


def _unscale(nanos: int, scale: int) -> int:
    power: int = 10 ** abs(scale + 9)
    return nanos // power if scale >= -9 else nanos * power


def _canonical_decimal(nanos: int) -> tuple[int, int]:
    """Return mantissa and exponent: no factor of 1000 in the mantissa, the exponent a multiple of 3."""
    exponent = -9
    while nanos % 1000 == 0 and exponent + 3 <= MAX_EXPONENT:  # what is printed can be read again
        nanos //= 1000
        exponent += 3
    return nanos, exponent
