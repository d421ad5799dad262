"""Field selectors in query form: `spec.nodeName=a,status.phase!=Running`; a backslash escapes `\\`, `,` and `=`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dra_api.errors import SelectorSyntaxError


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """`field` must be equal to `value`, or must not."""

    field: str
    equal: bool
    value: str


@dataclass(frozen=True, slots=True)
class FieldMatcher:
    """All terms must hold; none: everything matches. Which fields exist is the caller's business, per kind."""

    terms: tuple[FieldTerm, ...] = ()

    def matches(self, get: Callable[[str], str]) -> bool:
        """Tell whether an object is selected; `get` returns a field's value, "" if it is absent."""
        return all((get(term.field) == term.value) == term.equal for term in self.terms)


def parse_field_query(query: str) -> FieldMatcher:
    """Return the matcher of a `fieldSelector` query parameter. Raises SelectorSyntaxError."""
    terms = [_term(part, query) for part in _split(query) if part]
    # A term without field and value (`=`) selects everything, as in Kubernetes.
    return FieldMatcher(tuple(term for term in terms if term.field or term.value))


def _split(query: str) -> list[str]:
    parts, start, escaped = [], 0, False
    for i, char in enumerate(query):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == ",":
            parts.append(query[start:i])
            start = i + 1
    return [*parts, query[start:]]


def _term(part: str, query: str) -> FieldTerm:
    for i in range(len(part)):
        for operator in ("!=", "==", "="):
            if part.startswith(operator, i):
                return FieldTerm(part[:i], operator != "!=", _unescape(part[i + len(operator) :], query))
    raise SelectorSyntaxError(query, f"can't understand {part!r}: expected field=value, field==value or field!=value")


def _unescape(value: str, query: str) -> str:
    result, escaped = [], False
    for char in value:
        if escaped:
            if char not in "\\,=":
                raise SelectorSyntaxError(query, f"invalid escape sequence '\\{char}' in {value!r}")
            result.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in ",=":
            raise SelectorSyntaxError(query, f"unescaped {char!r} in {value!r}")
        else:
            result.append(char)
    if escaped:
        raise SelectorSyntaxError(query, f"{value!r} ends in a backslash")
    return "".join(result)
