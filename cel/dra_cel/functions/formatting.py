"""`"...".format([...])`: `%s %d %f %e %b %x %X %o`, numbers as in en_US."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import Charge, Estimate, Operand, per_character
from dra_cel.functions.conversions import format_duration
from dra_cel.functions.limits import check_text
from dra_cel.functions.numerals import format_general
from dra_cel.functions.table import member
from dra_cel.ranges import STRING_FACTOR
from dra_cel.slices import paced
from dra_cel.times import Duration, Timestamp, format_timestamp
from dra_cel.types import Kind
from dra_cel.uint import UInt
from dra_cel.values import CelMap, TypeValue, type_name

_PRECISION = 6
_MAX_PRECISION = 100_000
_CLAUSE = re.compile(r"%(?:(%)|(\.[0-9]*)?(.?))", re.DOTALL)
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


@dataclass(frozen=True, slots=True)
class Clause:
    """A conversion.

    Attributes:
        kinds: static types that it accepts, besides dyn.
        rule: what it accepts, in words.
        convert: value and precision to text.

    """

    kinds: frozenset[Kind]
    rule: str
    convert: Callable[[Any, int], str]


def parse_format(text: str) -> list[tuple[str, Clause | None, int]]:
    """Split a format into literal text, clause and precision; the last piece has no clause.

    Raises:
        EvaluationError: an unknown clause or a wrong precision.

    """
    pieces: list[tuple[str, Clause | None, int]] = []
    before = ""
    position = 0
    for match in _CLAUSE.finditer(text):
        before += text[position : match.start()]
        position = match.end()
        percent, precision, letter = match.groups()
        if percent:
            before += "%"
            continue
        if not letter:
            raise EvaluationError("format: unexpected end of string after %")
        if precision == ".":
            raise EvaluationError("format: a precision needs digits")
        clause = CLAUSES.get(letter)
        if clause is None:
            raise EvaluationError(f"could not parse formatting clause: unrecognized formatting clause {letter!r}")
        digits = _PRECISION if precision is None else min(int(precision[1:9]), _MAX_PRECISION)
        pieces.append((before, clause, digits))
        before = ""
    pieces.append((before + text[position:], None, 0))
    return pieces


def _format(text: str, args: Sequence[Any]) -> str:
    result: list[str] = []
    length = index = 0
    for before, clause, precision in parse_format(text):
        result.append(before)
        if clause is not None:
            if index >= len(args):
                raise EvaluationError(f"format: index {index} out of range")
            result.append(clause.convert(args[index], precision))
            index += 1
        length += sum(map(len, result[-2:]))
        check_text(length)
    return "".join(result)


def _refuse(rule: str, value: Any) -> EvaluationError:
    return EvaluationError(f"error during formatting: {rule}, was given {type_name(value)}")


def _decimal(value: Any, precision: int) -> str:
    if type(value) not in (int, UInt):
        raise _refuse(CLAUSES["d"].rule, value)
    return str(int(value))


def _number(value: Any, rule: str) -> float:
    if type(value) is str and value in _SPECIAL:
        return _SPECIAL[value]
    if type(value) is not float:
        raise _refuse(rule, value)
    return value + 0.0  # zero has no sign here


def _fixed(value: Any, precision: int) -> str:
    number = _number(value, CLAUSES["f"].rule)
    if math.isfinite(number):
        return f"{number:,.{precision}f}"
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _scientific(value: Any, precision: int) -> str:
    """Return six digits whatever the precision: Kubernetes takes that for a width to fill with blanks."""
    number = _number(value, CLAUSES["e"].rule)
    if not math.isfinite(number):
        return _fixed(number, precision).rjust(precision)
    mantissa, _, exponent = f"{number:.{_PRECISION}e}".partition("e")
    sign = "-" if exponent[0] == "-" else ""
    power = (sign + exponent[1:].rjust(2, "0")).translate(_SUPERSCRIPTS)
    return f"{mantissa}×10{power}".rjust(precision)


def _binary(value: Any, precision: int) -> str:
    if type(value) not in (int, UInt, bool):
        raise _refuse(CLAUSES["b"].rule, value)
    return f"{int(value):b}"


def _octal(value: Any, precision: int) -> str:
    if type(value) not in (int, UInt):
        raise _refuse(CLAUSES["o"].rule, value)
    return f"{int(value):o}"


def _hexadecimal(value: Any, precision: int) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):x}"
    if type(value) is str:
        return value.encode().hex()
    if type(value) is bytes:
        return value.hex()
    raise _refuse(CLAUSES["x"].rule, value)


def _text(value: Any, precision: int = 0) -> str:
    convert = _TEXTS.get(type(value))
    if convert is None:
        raise _refuse(CLAUSES["s"].rule, value)
    return convert(value)


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError("format: invalid UTF-8 in bytes") from error


def _quote(text: str) -> str:
    parts = []
    for character in text:
        if character in _ESCAPES:
            parts.append(_ESCAPES[character])
        elif character == " " or character.isprintable():
            parts.append(character)
        else:
            code = ord(character)
            parts.append(f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return '"' + "".join(parts) + '"'


def _member(value: Any) -> str:
    """Return a value as it is written inside lists and maps."""
    kind = type(value)
    if kind is float:
        return f"{value:.{_PRECISION}f}" if math.isfinite(value) else _quote(format_general(value))
    if kind is str:
        return _quote(value)
    if kind is bytes:
        return "b" + _quote(_decode(value))
    if kind is Timestamp:
        return f'timestamp("{format_timestamp(value)}")'
    if kind is Duration:
        return f'duration("{format_duration(value)}")'
    return _text(value)


def _list(items: Sequence[Any]) -> str:
    return "[" + ", ".join([_member(item) for item in paced(items)]) + "]"


def _map(entries: CelMap) -> str:
    pairs = []
    for key, value in paced(entries.items()):
        if type(key) not in (str, bool, int, UInt):
            raise EvaluationError(f"no formatting function for map key of type {type_name(key)}")
        pairs.append((_member(key), _member(value)))
    return "{" + ", ".join([f"{key}:{value}" for key, value in sorted(pairs, key=lambda pair: pair[0])]) + "}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    int: str,
    UInt: lambda value: str(int(value)),
    float: format_general,
    bytes: _decode,
    type(None): lambda value: "null",
    tuple: _list,
    CelMap: _map,
    Timestamp: format_timestamp,
    Duration: format_duration,
    TypeValue: lambda value: value.name,
}
_INTEGERS = frozenset({Kind.INT, Kind.UINT})
_TEXT_KINDS = _INTEGERS | {
    Kind.DOUBLE, Kind.BOOL, Kind.STRING, Kind.BYTES, Kind.NULL, Kind.LIST, Kind.MAP, Kind.TIMESTAMP, Kind.DURATION,
    Kind.TYPE,
}  # fmt: skip
_HEX = "only integers, byte buffers, and strings can be formatted as hex"

CLAUSES: dict[str, Clause] = {
    "s": Clause(
        _TEXT_KINDS,
        "string clause can only be used on strings, bools, bytes, numbers, maps, lists, types, durations, timestamps",
        _text,
    ),
    "d": Clause(_INTEGERS, "decimal clause can only be used on integers", _decimal),
    "f": Clause(frozenset({Kind.DOUBLE, Kind.STRING}), "fixed-point clause can only be used on doubles", _fixed),
    "e": Clause(frozenset({Kind.DOUBLE, Kind.STRING}), "scientific clause can only be used on doubles", _scientific),
    "b": Clause(_INTEGERS | {Kind.BOOL}, "only integers and bools can be formatted as binary", _binary),
    "o": Clause(_INTEGERS, "octal clause can only be used on integers", _octal),
    "x": Clause(_INTEGERS | {Kind.STRING, Kind.BYTES}, _HEX, _hexadecimal),
    "X": Clause(
        _INTEGERS | {Kind.STRING, Kind.BYTES}, _HEX, lambda value, precision: _hexadecimal(value, precision).upper()
    ),
}
"""Conversions by letter."""


def _estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate | None:
    return None if target is None else Estimate(target.size.scaled(STRING_FACTOR))


OVERLOADS = [
    member(
        "string_format", "format(string, list(dyn)) -> string", _format, Charge(per_character(0).runtime, _estimate)
    ),
]
