"""YAML with line numbers, read from the parser's events: no recursion in C, depth and aliases bounded.

Plain scalars mean what kubectl takes them for (YAML 1.1 without sexagesimal numbers and dates): `yes` is true, `0o17`
and `017` are 15, `1e3` is 1000, `12:30` and `2026-01-01` are texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from dra_api.manifests.lines import (
    MAX_DEPTH,
    MAX_VALUES,
    Branch,
    Lines,
    Parsed,
    SyntaxProblem,
    child_lines,
    line_of,
    moved_to,
)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TAGS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp"))
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MAX_DIGITS = 64
_PLAIN_KEY = re.compile(r"[a-zA-Z][a-zA-Z-]{5,}")  # longer than the words for booleans and null, so surely a text


def parse_yaml(text: str, first_line: int = 1) -> Iterator[Parsed]:
    """Yield the documents of a text whose first line has the number `first_line`. Raises SyntaxProblem."""
    try:
        builder = _Builder(yaml.parse(text, Loader=_LOADER), first_line)
        yield from builder.documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark is not None else (0, 0)
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise SyntaxProblem(f"malformed YAML: {problem}", first_line + line, column + 1, _hint(text, line)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) if isinstance(error.position, int) else 0
        raise SyntaxProblem(f"malformed YAML: {error.reason}", first_line + line, 1) from error


def _hint(text: str, line: int) -> str:
    lines = text.split("\n")
    if any("\t" in shown[: len(shown) - len(shown.lstrip())] for shown in lines[max(0, line - 1) : line + 1]):
        return "indent with spaces, YAML allows no tabs"
    return ""


class _Builder:
    """Builds values out of events; `_sizes` are the values behind each anchor, so that aliases count in full."""

    def __init__(self, events: Iterator[Any], first_line: int) -> None:
        self._events = events
        self._first_line = first_line
        self._anchors: dict[str, tuple[Any, Lines, int]] = {}
        self._duplicates: list[tuple[str, int]] = []
        self._values = 0

    def documents(self) -> Iterator[Parsed]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors, self._duplicates, self._values = {}, [], 0
                value, lines = self._build(next(self._events), 0, "")
                yield Parsed(value, lines, tuple(self._duplicates))

    def _build(self, event: Any, depth: int, path: str) -> tuple[Any, Lines]:
        if type(event) is yaml.ScalarEvent and event.anchor is None:  # nearly all of them
            self._count(event, 1)
            return self._scalar(event), self._line(event)
        if depth > MAX_DEPTH:
            raise self._problem(event, f"is nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self._count(event, 1)
        if isinstance(event, yaml.ScalarEvent):
            value: Any = self._scalar(event)
            lines: Lines = self._line(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value, lines = self._sequence(event, depth, path)
        else:
            value, lines = self._mapping(event, depth, path)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, lines, self._values - before)
        return value, lines

    def _alias(self, event: Any) -> tuple[Any, Lines]:
        if event.anchor not in self._anchors:
            raise self._problem(event, f"malformed YAML: alias *{event.anchor} has no anchor before it")
        value, lines, size = self._anchors[event.anchor]
        self._count(event, size)
        return value, lines

    def _count(self, event: Any, values: int) -> int:
        before = self._values
        self._values += values
        if self._values > MAX_VALUES:
            raise self._problem(event, f"has more than {MAX_VALUES} values once its aliases are followed")
        return before

    def _sequence(self, event: Any, depth: int, path: str) -> tuple[list[Any], Lines]:
        values: list[Any] = []
        children: list[Lines] = []
        for item in self._events:
            if isinstance(item, yaml.SequenceEndEvent):
                break
            value, lines = self._build(item, depth + 1, f"{path}[{len(values)}]")
            values.append(value)
            children.append(lines)
        return values, Branch(self._line(event), children)

    def _mapping(self, event: Any, depth: int, path: str) -> tuple[dict[str, Any], Lines]:
        values: dict[str, Any] = {}
        children: dict[str, Lines] = {}
        merged: list[tuple[Any, Lines]] = []
        for item in self._events:
            if isinstance(item, yaml.MappingEndEvent):
                break
            key, key_line = self._key(item, depth)
            where = f"{path}.{key}" if path else key
            value, lines = self._build(next(self._events), depth + 1, where)
            if key == "<<" and isinstance(item, yaml.ScalarEvent) and item.implicit[0]:  # unquoted
                merged.append((value, lines))
                continue
            if key in values:
                self._duplicates.append((where, key_line))
            values[key] = value
            children[key] = moved_to(lines, key_line)
        for value, lines in merged:
            self._merge(event, values, children, value, lines)
        return values, Branch(self._line(event), children)

    def _key(self, event: Any, depth: int) -> tuple[str, int]:
        if type(event) is yaml.ScalarEvent and event.anchor is None and _PLAIN_KEY.fullmatch(event.value):
            self._count(event, 1)
            return event.value, self._line(event)
        key, lines = self._build(event, depth + 1, "")
        if key is None or isinstance(key, (dict, list)):
            raise self._problem(event, "malformed YAML: null, a list or an object cannot be a key")
        if isinstance(key, bool):
            key = "true" if key else "false"
        return str(key), line_of(lines) if not isinstance(event, yaml.AliasEvent) else self._line(event)

    def _merge(self, event: Any, values: dict[str, Any], children: dict[str, Lines], value: Any, lines: Lines) -> None:
        """Take over the keys of `<<` that the object does not have itself."""
        sources = [(value, lines)]
        if isinstance(value, list) and isinstance(lines, Branch) and isinstance(lines.children, list):
            sources = list(zip(value, lines.children, strict=True))
        for source, source_lines in sources:
            if not isinstance(source, dict):
                raise self._problem(event, "malformed YAML: << needs an object or a list of objects")
            for key, child in source.items():
                if key not in values:
                    values[key] = child
                    children[key] = child_lines(source_lines, key)

    def _scalar(self, event: Any) -> Any:
        tag = event.tag or ""
        if tag in ("!", _TAG + "str") or (not tag and not event.implicit[0]):
            return event.value
        if tag and tag not in _TAGS:
            raise self._problem(event, f"malformed YAML: the tag {tag} is not allowed")
        value = plain_scalar(event.value)
        if value is NotImplemented:
            raise self._problem(event, f"{event.value} is not a number that JSON can hold")
        return value

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + self._first_line

    def _problem(self, event: Any, problem: str) -> SyntaxProblem:
        return SyntaxProblem(problem, self._line(event), event.start_mark.column + 1)


def plain_scalar(text: str) -> Any:
    """Return what an unquoted scalar means: null, a boolean, a number or a text. NotImplemented: infinity and NaN."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in "0123456789+-.":
        return text
    if _NOT_JSON.fullmatch(text):
        return NotImplemented
    digits = text.replace("_", "") if text[0] != "." else text
    if len(digits) > _MAX_DIGITS:
        return text
    if _INT.fullmatch(digits):
        return _integer(digits)
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            return text
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


def _integer(digits: str) -> int | float | str:
    body = digits.lstrip("+-")
    sign = -1 if digits[0] == "-" else 1
    is_octal = len(body) > 1 and body[0] == "0" and body[1].isdigit()
    number = sign * (int(body, 8) if is_octal else int(body, 0))
    if -(2**63) <= number < 2**64:
        return number
    return float(digits) if digits.lstrip("+-").isdigit() else digits  # as far as the parser of kubectl can count
