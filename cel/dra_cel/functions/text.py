"""Functions of strings. Positions count code points."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from dra_cel.ast import Literal
from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import (
    CONTAINS,
    LIST_WALK,
    SAME_SIZE,
    Charge,
    Estimate,
    Operand,
    per_character,
    size_of,
)
from dra_cel.functions.limits import check_elements, check_text
from dra_cel.functions.table import member, overload
from dra_cel.ranges import MAX, STRING_FACTOR, Range, scale
from dra_cel.slices import paced, rest
from dra_cel.values import type_name

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_QUOTED = str.maketrans(
    {
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
)


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _out_of_range(start)
    return min(start, len(text)) if not part else text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = len(text) + 1 if not old else text.count(old)
    if 0 <= limit < count:
        count = limit
    check_text(len(text) + count * (len(new) - len(old)))
    rest()
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> tuple[str, ...]:
    if limit == 0:
        return ()
    if separator:
        check_elements(text.count(separator))
        return tuple(text.split(separator, limit - 1 if limit > 0 else -1))
    check_elements(len(text))
    if 0 < limit < len(text):
        return (*text[: limit - 1], text[limit - 1 :])
    return tuple(text)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        if not 0 <= start <= len(text):
            raise _out_of_range(start)
        return text[start:]
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _join(parts: tuple[Any, ...], separator: str = "") -> str:
    length = max(len(parts) - 1, 0) * len(separator)
    for part in paced(parts):
        if type(part) is not str:
            raise EvaluationError(f"join: no such overload for elements of type '{type_name(part)}'")
        length += len(part)
    check_text(length)
    return separator.join(parts)


def _quote(text: str) -> str:
    return '"' + text.translate(_QUOTED) + '"'


def _quote_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    size = args[0].size  # Kubernetes lets the size wrap around
    return Estimate(size.scaled(STRING_FACTOR), Range((size.low + 2) & MAX, (size.high * 2 + 2) & MAX))


def _replace_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    assert target is not None
    size, old, new = target.size, args[0].size, args[1].size
    kept_high = kept_low = count_high = count_low = 0
    if old.low == 0:
        count_high, kept_high = min(size.high + 1, MAX), size.high
    elif new.high <= old.low:
        kept_high = size.high
    else:
        count_high = scale(size.high, 1 / old.low)
    if old.high == 0:
        count_low, kept_low = min(size.low + 1, MAX), size.low
    elif old.high <= new.low:
        kept_low = size.low
    else:
        count_low = scale(size.low, 1 / old.high)
    result = Range(count_low, count_high).times(new).plus(Range(kept_low, kept_high))
    return Estimate(size.scaled(2 * STRING_FACTOR), result)


def _split_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    assert target is not None
    most = target.size.high
    if len(args) > 1 and isinstance(args[1].node, Literal) and type(args[1].node.value) is int:
        most = args[1].node.value % 2**64
    return Estimate(target.size.scaled(2 * STRING_FACTOR), Range(0, most))


def _join_estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    assert target is not None
    size = target.size.times(target.element_size) if target.type.params else Range(0, 0)
    if args:
        separators = Range(max(target.size.low - 1, 0), max(target.size.high - 1, 0))
        size = size.plus(args[0].size.times(separators))
    return Estimate(size.scaled(STRING_FACTOR), size)


_TWICE = per_character(0, 2 * STRING_FACTOR)
_REPLACE = Charge(_TWICE.runtime, _replace_estimate, by_function=True)
_SPLIT = Charge(_TWICE.runtime, _split_estimate, by_function=True)
_JOIN = Charge(
    lambda args, result: scale(size_of(result), 2 * STRING_FACTOR), _join_estimate, by_function=True, needs_result=True
)
_QUOTE = Charge(per_character(0).runtime, _quote_estimate)
_AFFIX = per_character(1, by_function=False)

OVERLOADS = [
    member("contains_string", "contains(string, string) -> bool", lambda text, part: part in text, CONTAINS),
    member("ends_with_string", "endsWith(string, string) -> bool", lambda text, part: text.endswith(part), _AFFIX),
    member(
        "starts_with_string", "startsWith(string, string) -> bool", lambda text, part: text.startswith(part), _AFFIX
    ),
    member("string_char_at_int", "charAt(string, int) -> string", _char_at),
    member("string_index_of_string", "indexOf(string, string) -> int", _index_of, LIST_WALK),
    member("string_index_of_string_int", "indexOf(string, string, int) -> int", _index_of, LIST_WALK),
    member("string_last_index_of_string", "lastIndexOf(string, string) -> int", _last_index_of, LIST_WALK),
    member("string_last_index_of_string_int", "lastIndexOf(string, string, int) -> int", _last_index_of, LIST_WALK),
    member("string_lower_ascii", "lowerAscii(string) -> string", lambda text: text.translate(_LOWER), SAME_SIZE),
    member("string_upper_ascii", "upperAscii(string) -> string", lambda text: text.translate(_UPPER), SAME_SIZE),
    member("string_replace_string_string", "replace(string, string, string) -> string", _replace, _REPLACE),
    member("string_replace_string_string_int", "replace(string, string, string, int) -> string", _replace, _REPLACE),
    member("string_split_string", "split(string, string) -> list(string)", _split, _SPLIT),
    member("string_split_string_int", "split(string, string, int) -> list(string)", _split, _SPLIT),
    member("string_substring_int", "substring(string, int) -> string", _substring, SAME_SIZE),
    member("string_substring_int_int", "substring(string, int, int) -> string", _substring, SAME_SIZE),
    member("string_trim", "trim(string) -> string", lambda text: text.strip(_SPACE), SAME_SIZE),
    member("list_join", "join(list(string)) -> string", _join, _JOIN),
    member("list_join_string", "join(list(string), string) -> string", _join, _JOIN),
    overload("strings_quote", "strings.quote(string) -> string", _quote, _QUOTE),
]
