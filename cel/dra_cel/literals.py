"""What the literals of an expression stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from dra_cel.errors import CompileError
from dra_cel.lexer import ESCAPE, Token
from dra_cel.uint import MAX_INT, MAX_UINT, MIN_INT, UInt

_SIMPLE_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    '"': '"', "'": "'", "\\": "\\", "?": "?", "`": "`",
}  # fmt: skip
_ANY_ESCAPE = re.compile(ESCAPE)


def string_value(token: Token, expression: str) -> str:
    """Return what a STRING token stands for: quotes removed, escapes replaced, line ends normalized.

    Raises:
        CompileError: an escape that is no Unicode scalar value.

    """
    body, raw = _body(token.text)
    if raw or "\\" not in body:
        return body

    def replace(match: re.Match[str]) -> str:
        escape = match.group()
        if escape[1] in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[escape[1]]
        code = int(escape[2:], 16) if escape[1] in "xXuU" else int(escape[1:], 8)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise CompileError(f"invalid unicode code point {escape}", expression, token.offset)
        return chr(code)

    return _ANY_ESCAPE.sub(replace, body)


def bytes_value(token: Token, expression: str) -> bytes:
    """Return what a BYTES token stands for; octal and hexadecimal escapes are bytes there.

    Raises:
        CompileError: a Unicode escape, which bytes can't have.

    """
    body, raw = _body(token.text[1:])
    if raw or "\\" not in body:
        return body.encode()
    parts = []
    position = 0
    for match in _ANY_ESCAPE.finditer(body):
        escape = match.group()
        parts.append(body[position : match.start()].encode())
        position = match.end()
        if escape[1] in "uU":
            raise CompileError(f"bytes can have no escape {escape}", expression, token.offset)
        if escape[1] in _SIMPLE_ESCAPES:
            parts.append(_SIMPLE_ESCAPES[escape[1]].encode())
        else:
            parts.append(bytes([int(escape[2:], 16) if escape[1] in "xX" else int(escape[1:], 8) & 0xFF]))
    parts.append(body[position:].encode())
    return b"".join(parts)


def _body(quoted: str) -> tuple[str, bool]:
    text = quoted.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    width = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[width:-width], raw


def _integer(text: str) -> int | None:
    value = _digits(text)
    return value if value is not None and MIN_INT <= value <= MAX_INT else None


def _unsigned(text: str) -> UInt | None:
    value = _digits(text[:-1])
    return UInt(value) if value is not None and value <= MAX_UINT else None


def _digits(text: str) -> int | None:
    if len(text) <= 18 and text.isdigit():
        return int(text)
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
    base = 16 if digits.startswith("0x") else 10
    digits = digits.removeprefix("0x").lstrip("0") or "0"
    return sign * int(digits, base) if len(digits) <= 20 else None


def _double(text: str) -> float | None:
    value = float(text)
    return None if math.isinf(value) else value


NUMBERS: dict[str, Callable[[str], int | float | None]] = {
    "INT": _integer,
    "UINT": _unsigned,
    "FLOAT": _double,
}
"""Conversions of numeric tokens (with a leading minus) by kind; None: out of range."""
