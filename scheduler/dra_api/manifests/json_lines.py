"""JSON with line numbers: strict, several documents one after the other, depth bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from dra_api.manifests.json_fast import UNREAD, read_fast
from dra_api.manifests.json_offsets import lines_of
from dra_api.manifests.lines import MAX_DEPTH, Branch, Deferred, Lines, Parsed, SyntaxProblem, moved_to

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {"true": True, "false": False, "null": None}
_MAX_DIGITS = 64


def parse_json(text: str) -> Iterator[Parsed]:
    """Yield the documents of a text. Raises SyntaxProblem."""
    value = read_fast(text)
    if value is not UNREAD:
        yield Parsed(value, Deferred(lambda: lines_of(text)))
    else:
        yield from _parse(text)


def _parse(text: str) -> Iterator[Parsed]:
    parser = _Parser(text)
    while parser.more():
        value, lines = parser.value(0, "")
        yield Parsed(value, lines, tuple(parser.duplicates))
        parser.duplicates = []


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self.duplicates: list[tuple[str, int]] = []

    def more(self) -> bool:
        """Skip white space and tell whether anything is left."""
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._at < len(self._text)

    def value(self, depth: int, path: str) -> tuple[Any, Lines]:
        """Read one value; `path` is where it stands."""
        if depth > MAX_DEPTH:
            raise self._problem(f"is nested more than {MAX_DEPTH} levels deep")
        char = self._peek()
        if char == "{":
            return self._object(depth, path)
        if char == "[":
            return self._array(depth, path)
        line = self._here()
        if char == '"':
            return self._string(), line
        for word, meaning in _WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return meaning, line
        return self._number(), line

    def _object(self, depth: int, path: str) -> tuple[dict[str, Any], Lines]:
        line = self._here()
        self._at += 1
        values: dict[str, Any] = {}
        children: dict[str, Lines] = {}
        if self._peek() == "}":
            self._at += 1
            return values, Branch(line, children)
        while True:
            if self._peek() != '"':
                raise self._problem("malformed JSON: expected a key in double quotes")
            key_line = self._here()
            key = self._string()
            where = f"{path}.{key}" if path else key
            if key in values:
                self.duplicates.append((where, key_line))
            self._expect(":")
            values[key], lines = self.value(depth + 1, where)
            children[key] = moved_to(lines, key_line)
            if self._expect(",}") == "}":
                return values, Branch(line, children)

    def _array(self, depth: int, path: str) -> tuple[list[Any], Lines]:
        line = self._here()
        self._at += 1
        values: list[Any] = []
        children: list[Lines] = []
        if self._peek() == "]":
            self._at += 1
            return values, Branch(line, children)
        while True:
            value, lines = self.value(depth + 1, f"{path}[{len(values)}]")
            values.append(value)
            children.append(lines)
            if self._expect(",]") == "]":
                return values, Branch(line, children)

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is None:
            raise self._problem("malformed JSON: this string does not end, or has a raw control character in it")
        try:
            value: str = json.loads(match.group())
        except ValueError as error:
            raise self._problem("malformed JSON: this string has an invalid escape") from error
        self._at = match.end()
        return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)

    def _number(self) -> int | float:
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            raise self._problem(f"malformed JSON: unexpected {self._text[self._at : self._at + 1]!r}")
        if len(match.group()) > _MAX_DIGITS:
            raise self._problem("malformed JSON: this number is too long")
        is_integer = match.group(1) is None and match.group(2) is None
        number = int(match.group()) if is_integer else float(match.group())
        if number in (float("inf"), float("-inf")):
            raise self._problem("malformed JSON: this number is too large")
        self._at = match.end()
        return number

    def _peek(self) -> str:
        if not self.more():
            raise self._problem("malformed JSON: the text ends too early")
        return self._text[self._at]

    def _expect(self, chars: str) -> str:
        char = self._peek()
        if char not in chars:
            raise self._problem(f"malformed JSON: expected {' or '.join(repr(c) for c in chars)}, found {char!r}")
        self._at += 1
        return char

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _problem(self, problem: str) -> SyntaxProblem:
        column = self._at - (self._text.rfind("\n", 0, self._at) + 1) + 1
        return SyntaxProblem(problem, self._here(), column)
