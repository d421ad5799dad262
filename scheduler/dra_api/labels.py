"""Label selectors: metav1.LabelSelector objects and the query form (`app=web,tier in (a, b),!legacy`).

Both become a LabelMatcher. An absent key matches `!=` and `notin`; `Gt`/`Lt` compare integers of 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dra_api.decode.fields import INT64_MAX, items, string_map, text, texts, wrong_type
from dra_api.errors import DecodeError, SelectorSyntaxError
from dra_api.names import label_value_problems, qualified_name_problems

LabelOperator = Literal["in", "notin", "exists", "absent", "gt", "lt"]
Labels = Mapping[str, str]

_OBJECT_OPERATORS: dict[str, LabelOperator] = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "absent",
}
_BINARY: dict[str, LabelOperator] = {"=": "in", "==": "in", "!=": "notin", ">": "gt", "<": "lt"}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!()<>,]|[^=!()<>, \t\r\n]+)")
_SPACE = " \t\r\n"
_END = ""


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """One condition on a label; the values of `in` and `notin` are a set, `gt` and `lt` have one integer."""

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Tell whether an object with these labels meets the condition."""
        value = labels.get(self.key)
        if self.operator == "in":
            return value is not None and value in self.values
        if self.operator == "notin":
            return value is None or value not in self.values
        if self.operator == "exists":
            return value is not None
        if self.operator == "absent":
            return value is None
        number, limit = parse_int64(value), parse_int64(self.values[0])
        if number is None or limit is None:
            return False
        return number > limit if self.operator == "gt" else number < limit


@dataclass(frozen=True, slots=True)
class LabelMatcher:
    """All requirements must hold; none: everything matches."""

    requirements: tuple[LabelRequirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Labels | None) -> bool:
        """Tell whether an object with these labels (None: without labels) is selected."""
        labels = labels or {}
        return not self.nothing and all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING = LabelMatcher()
NOTHING = LabelMatcher(nothing=True)


def parse_int64(value: str | None) -> int | None:
    """Return a decimal integer of 64 bits, or None if the text is not one."""
    if value is None or len(value) > 64 or not _INTEGER.fullmatch(value):
        return None
    number = int(value)
    return number if -INT64_MAX - 1 <= number <= INT64_MAX else None


def label_selector(obj: Mapping[str, Any] | None, field: str = "") -> LabelMatcher:
    """Return the matcher of a metav1.LabelSelector: null selects nothing, the empty one everything.

    Raises DecodeError (with `field` as the place) for wrong types, operators and values.
    """
    if obj is None:
        return NOTHING
    if not isinstance(obj, dict):
        raise wrong_type(field, "an object", obj)
    try:
        equal = [LabelRequirement(key, "in", (value,)) for key, value in sorted(string_map(obj, "matchLabels").items())]
        return LabelMatcher((*equal, *items(obj, "matchExpressions", _expression)))
    except DecodeError as error:
        raise (error.within(field) if field else error) from error


def _expression(obj: Mapping[str, Any]) -> LabelRequirement:
    name = text(obj, "operator")
    operator = _OBJECT_OPERATORS.get(name)
    if operator is None:
        known = ", ".join(_OBJECT_OPERATORS)
        raise DecodeError("operator", f"{name!r} is not a valid label selector operator", f"use one of {known}")
    values = texts(obj, "values")
    if operator in ("in", "notin") and not values:
        raise DecodeError("values", f"must be specified when the operator is {name}")
    if operator in ("exists", "absent") and values:
        raise DecodeError("values", f"may not be specified when the operator is {name}")
    key = text(obj, "key")
    if problems := qualified_name_problems(key):
        raise DecodeError("key", f"{key!r} is not a label key: {problems[0]}")
    return LabelRequirement(key, operator, values)


def parse_label_query(query: str) -> LabelMatcher:
    """Return the matcher of a `labelSelector` query parameter. Raises SelectorSyntaxError."""
    return LabelMatcher(tuple(_QueryParser(query).parse()))


class _QueryParser:
    """Recursive descent over the tokens; `in` and `notin` are operators only in the operator's place."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = self._scan(query)
        self._next = 0

    @staticmethod
    def _scan(query: str) -> list[str]:
        tokens, position = [], 0
        end = len(query.rstrip(_SPACE))
        while position < end:
            match = _TOKEN.match(query, position)
            if match is None:
                break
            tokens.append(match.group(1))
            position = match.end()
        return [*tokens, _END]

    def parse(self) -> list[LabelRequirement]:
        requirements: list[LabelRequirement] = []
        if self._peek() == _END:
            return requirements
        while True:
            requirements.append(self._requirement())
            token = self._take()
            if token == _END:
                return requirements
            if token != ",":
                raise self._error(f"found {token!r}, expected ',' or the end")

    def _requirement(self) -> LabelRequirement:
        absent = self._peek() == "!"
        if absent:
            self._take()
        key = self._identifier()
        if problems := qualified_name_problems(key):
            raise self._error(f"{key!r} is not a label key: {problems[0]}")
        if self._peek() in (",", _END):
            return LabelRequirement(key, "absent" if absent else "exists")
        if absent:
            raise self._error(f"found {self._peek()!r} after '!{key}', expected ',' or the end")
        return self._comparison(key)

    def _comparison(self, key: str) -> LabelRequirement:
        token = self._take()
        if token == "in":
            return LabelRequirement(key, "in", self._values())
        if token == "notin":
            return LabelRequirement(key, "notin", self._values())
        if token not in _BINARY:
            raise self._error(f"found {token!r}, expected one of in, notin, =, ==, !=, >, <")
        value = "" if self._peek() in (",", _END) else self._identifier()
        if token in "<>" and parse_int64(value) is None:
            raise self._error(f"{value!r} must be an integer after {token!r}")
        return LabelRequirement(key, _BINARY[token], (self._checked(value),))

    def _values(self) -> tuple[str, ...]:
        if (token := self._take()) != "(":
            raise self._error(f"found {token!r}, expected '('")
        values = []
        while True:  # empty values are values: `(,a)` is the set of "" and "a"
            values.append("" if self._peek() in (",", ")") else self._checked(self._identifier()))
            token = self._take()
            if token == ")":
                return tuple(sorted(set(values)))
            if token != ",":
                raise self._error(f"found {token!r}, expected ',' or ')'")

    def _identifier(self) -> str:
        token = self._take()
        if token == _END or token in _BINARY or token in "!(),":
            raise self._error(f"found {token!r}, expected an identifier")
        return token

    def _checked(self, value: str) -> str:
        if problems := label_value_problems(value):
            raise self._error(f"{value!r} is not a label value: {problems[0]}")
        return value

    def _peek(self) -> str:
        return self._tokens[self._next]

    def _take(self) -> str:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _error(self, problem: str) -> SelectorSyntaxError:
        return SelectorSyntaxError(self._query, problem)
