"""Kubernetes' named formats: `format.dns1123Label().validate(text)` and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from dra_cel import types as t
from dra_cel.dispatch import register_object
from dra_cel.equality import register_strict
from dra_cel.functions.charges import Charge, Estimate, Operand, size_of
from dra_cel.functions.table import Overload, member, overload
from dra_cel.functions.urls import is_url
from dra_cel.ranges import REGEX_FACTOR, STRING_FACTOR, scale
from dra_cel.values import NONE, Optional, register_type_name

Check = Callable[[str], list[str]]

_MAX_PATTERN = 128
_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME = "(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_UUID = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))", re.ASCII)


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format. Formats are equal if their names are.

    Attributes:
        name: its name.
        check: returns what is wrong with a text; nothing: it is valid.
        pattern_size: length of a regular expression that would check it, for the cost.

    """

    name: str
    check: Check
    pattern_size: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


register_type_name(NamedFormat, t.FORMAT.name)
register_object(t.FORMAT, NamedFormat)
register_strict(NamedFormat)


def _sized(pattern: str, longest: int, rule: str, limit: str = "must have at most") -> Check:
    # Selectors can ask whether the texts are sorted: they are where Kubernetes' texts, in other words, are.
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> list[str]:
        problems = [f"{limit} {longest} characters"] if len(text.encode()) > longest else []
        return problems if compiled.fullmatch(text) else [*problems, rule]

    return check


_EMPTY = "can't be empty"

_label = _sized(
    _LABEL, 63, "must consist of lower case letters, digits and '-', and start and end with one of the first two"
)
_subdomain = _sized(rf"{_LABEL}(?:\.{_LABEL})*", 253, "must consist of DNS labels in lower case, separated by dots")
_label_1035 = _sized(
    "[a-z](?:[-a-z0-9]*[a-z0-9])?",
    63,
    "can have lower case letters, digits and '-' only, the first a letter",
)
_name = _sized(
    _NAME,
    63,
    "must consist of letters, digits, '-', '_' and '.', and start and end with one of the first two",
    "can have at most",
)
_label_value = _sized(f"(?:{_NAME})?", 63, "must be empty or like the name of a label")


def _prefix(check: Check) -> Check:
    """Return the check for a text that something will be appended to: it may end in a dash."""
    return lambda text: check(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _qualified_name(text: str) -> list[str]:
    parts = text.split("/")
    if len(parts) > 2:
        return ["must be a name with an optional DNS subdomain and '/' before it"]
    problems = []
    if len(parts) == 2:
        problems = _subdomain(parts[0]) if parts[0] else [_EMPTY]
    named = [*([] if parts[-1] else [_EMPTY]), *_name(parts[-1])]
    return [*(f"the prefix {problem}" for problem in problems), *(f"the name {problem}" for problem in named)]


def _test(test: Callable[[str], object], rule: str) -> Check:
    return lambda text: [] if test(text) else [rule]


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return text.startswith("0000") and _is_date("0004" + text[4:])
    return True


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(parts) < 2 or not _is_date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return bool(match and match[1] <= "23" and match[2] <= "59" and match[3] <= "59")


_FORMATS = {
    "dns1123Label": NamedFormat("DNS1123Label", _label, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", _subdomain, 60),
    "dns1035Label": NamedFormat("DNS1035Label", _label_1035, 30),
    "qualifiedName": NamedFormat("QualifiedName", _qualified_name, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix(_label), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _prefix(_subdomain), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix(_label_1035), 30),
    "labelValue": NamedFormat("LabelValue", _label_value, 40),
    "uri": NamedFormat("URI", _test(is_url, "must be an absolute URI"), 1103),
    "uuid": NamedFormat("uuid", _test(_UUID.fullmatch, "does not match the UUID format"), 70),
    "byte": NamedFormat("byte", _test(_BASE64.fullmatch, "invalid base64"), 84),
    "date": NamedFormat("date", _test(_is_date, "invalid date"), 71),
    "datetime": NamedFormat("datetime", _test(_is_datetime, "invalid datetime"), 71),
}


def _validate(format_: NamedFormat, text: str) -> Optional:
    problems = format_.check(text)
    return Optional(tuple(problems)) if problems else NONE


def _named(name: str) -> Optional:
    return Optional(_FORMATS[name]) if name in _FORMATS else NONE


def _constant(format_: NamedFormat) -> Callable[[], NamedFormat]:
    return lambda: format_


def _runtime(args: Sequence[Any], result: Any) -> int:
    if type(args[0]) is not NamedFormat:
        return 1
    return scale(1 + size_of(args[1]), STRING_FACTOR) * scale(args[0].pattern_size, REGEX_FACTOR)


def _estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
    return Estimate(args[0].size.scaled(STRING_FACTOR).scaled(_MAX_PATTERN * REGEX_FACTOR))


def _constants() -> list[Overload]:
    return [
        overload(f"format.{name}", f"format.{name}() -> Format", _constant(format_))
        for name, format_ in _FORMATS.items()
    ]


OVERLOADS = [
    *_constants(),
    member(
        "format-validate",
        "validate(Format, string) -> optional(list(string))",
        _validate,
        Charge(_runtime, _estimate, by_function=True),
    ),
    overload("format-named", "format.named(string) -> optional(Format)", _named),
]
