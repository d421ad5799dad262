"""Regular expressions, by RE2: linear in the text, whatever the pattern."""

from __future__ import annotations

import functools
import re
from typing import Any

import re2

from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import FIND, MATCHES
from dra_cel.functions.limits import check_elements
from dra_cel.functions.table import member, overload
from dra_cel.slices import rest

_MAX_MEMORY = 1 << 21
"""Bytes for a compiled pattern and the states of a search; compiling up to there takes some milliseconds."""
_MAX_CLASSES = 200
"""Unicode classes such as \\pL: each has hundreds of ranges, and takes a tenth of a millisecond."""
_MAX_NESTING = 1000
"""Groups in each other: Kubernetes' limit too."""
_STRIDE = 64
"""Matches between two rests."""


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    return options


_OPTIONS = _options()
_CLASSES = re.compile(r"\\[pP]")
_GROUPS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", re.DOTALL)


@functools.lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Any:
    """Return a compiled pattern.

    Raises:
        EvaluationError: RE2 does not accept the pattern.

    """
    rest()
    if _nesting(pattern) > _MAX_NESTING:
        raise EvaluationError(f"error parsing regexp {pattern[:80]!r}: expression nests too deeply")
    if len(_CLASSES.findall(pattern)) > _MAX_CLASSES:
        reason = f"more than {_MAX_CLASSES} Unicode classes are not supported"
        raise EvaluationError(f"error parsing regexp {pattern[:80]!r}: {reason}")
    try:
        return re2.compile(pattern, options=_OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        if isinstance(reason, bytes):
            reason = reason.decode(errors="replace")
        raise EvaluationError(f"error parsing regexp {pattern[:80]!r}: {reason}") from error


def _nesting(pattern: str) -> int:
    """Return at least how many groups are in each other."""
    if pattern.count("(") <= _MAX_NESTING:
        return 0
    depth = deepest = 0
    for part in _GROUPS.finditer(pattern):
        bracket = part.group()
        depth += 1 if bracket == "(" else -1 if bracket == ")" else 0
        deepest = max(deepest, depth)
    return deepest


# Searching encoded text is twice as fast as searching a str, whose positions would have to be converted.


def _matches(text: str, pattern: str) -> bool:
    return compile_pattern(pattern).search(text.encode()) is not None


def _find(text: str, pattern: str) -> str:
    match = compile_pattern(pattern).search(text.encode())
    return str(match.group(), "utf-8", "replace") if match else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    found: list[str] = []
    end = -1
    searched = text.encode() if text.isascii() else text  # where both have the same positions
    for number, match in enumerate(compile_pattern(pattern).finditer(searched)):
        if number % _STRIDE == _STRIDE - 1:
            rest()
        if len(found) == limit:
            break
        if match.start() == match.end() == end:
            continue  # an empty match right after another match does not count
        end = match.end()
        found.append(text[match.start() : end])
        check_elements(len(found))
    return tuple(found)


OVERLOADS = [
    overload("matches", "matches(string, string) -> bool", _matches, MATCHES),
    member("matches_string", "matches(string, string) -> bool", _matches, MATCHES),
    member("string_find_string", "find(string, string) -> string", _find, FIND),
    member("string_find_all_string", "findAll(string, string) -> list(string)", _find_all, FIND),
    member("string_find_all_string_int", "findAll(string, string, int) -> list(string)", _find_all, FIND),
]
