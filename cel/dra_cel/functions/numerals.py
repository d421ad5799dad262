"""Conversions between numbers and text, by Go's rules, which are CEL's."""

from __future__ import annotations

import math
import re

from dra_cel.errors import EvaluationError
from dra_cel.uint import MAX_INT, MAX_UINT, MIN_INT, UInt

_SIGNED = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UNSIGNED = re.compile(r"[0-9]+", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE
)
_HEXADECIMAL = re.compile(r"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?[0-9]+", re.ASCII | re.IGNORECASE)
_MAX_DIGITS = 4000
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def conversion_error(text: str, target: str) -> EvaluationError:
    """Return the error for a text that is no value of the target type."""
    return EvaluationError(f"type conversion error from 'string' to '{target}': {text[:80]!r}")


def text_to_int(text: str) -> int:
    """Parse a decimal int."""
    if _SIGNED.fullmatch(text) and len(text) < _MAX_DIGITS:
        value = int(text)
        if MIN_INT <= value <= MAX_INT:
            return value
    raise conversion_error(text, "int")


def text_to_uint(text: str) -> UInt:
    """Parse a decimal uint, without a sign."""
    if _UNSIGNED.fullmatch(text) and len(text) < _MAX_DIGITS:
        value = int(text)
        if value <= MAX_UINT:
            return UInt(value)
    raise conversion_error(text, "uint")


def text_to_double(text: str) -> float:
    """Parse a double; what is too large is an error."""
    if _DECIMAL.fullmatch(text):
        value = float(text)
        if not math.isinf(value) or "i" in text.lower():
            return value
    elif _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError as error:
            raise conversion_error(text, "double") from error
    raise conversion_error(text, "double")


def text_to_bool(text: str) -> bool:
    """Parse 1, t, true, 0, f, false and their spellings in capitals."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise conversion_error(text, "bool")


def double_to_int(value: float) -> int:
    """Truncate; out of range is an error."""
    if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(value)


def double_to_uint(value: float) -> UInt:
    """Truncate; negative or too large is an error."""
    if math.isnan(value) or not 0 <= value < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return UInt(int(value))


def int_to_uint(value: int) -> UInt:
    """Convert; negative is an error."""
    if value < 0:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def uint_to_int(value: UInt) -> int:
    """Convert; too large is an error."""
    if value > MAX_INT:
        raise EvaluationError("integer overflow")
    return int(value)


def digits_and_exponent(value: float) -> tuple[str, int]:
    """Return the shortest digits of a positive finite double and the exponent of the first one."""
    mantissa, _, exponent = f"{value:.17e}".partition("e")
    shortest = repr(value)
    if "e" in shortest:
        mantissa, _, exponent = shortest.partition("e")
        return mantissa.replace(".", ""), int(exponent)
    whole, _, fraction = shortest.partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0") or "0"
    if whole != "0":
        return digits, len(whole) - 1
    return digits, -(len(fraction) - len(fraction.lstrip("0"))) - 1


def format_general(value: float) -> str:
    """Return a double as Go's `%g` prints it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign = "-" if value < 0 else ""
    digits, exponent = digits_and_exponent(abs(value))
    if exponent < -4 or exponent >= 6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def format_plain(value: float) -> str:
    """Return a finite double without an exponent, in its shortest form."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, exponent = digits_and_exponent(abs(value))
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
