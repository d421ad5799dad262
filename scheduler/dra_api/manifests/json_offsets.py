"""The lines of JSON that is known to be right: only what leads to a value that somebody asks for is looked at.

A dump of a cluster has millions of values, and a finding is about one of them. What stands beside the way to it is
skipped by Python's own scanner, which is much faster than noting a line for everything.
"""

from __future__ import annotations

import json
import re
from functools import partial

from dra_api.manifests.lines import Branch, Deferred, Lines

_SPACE = re.compile(r"[ \t\r\n]*")
_SKIP = json.JSONDecoder().raw_decode


def lines_of(text: str) -> Lines:
    """Return the lines of the first value of a text, which has to be JSON without a key twice in one object."""
    at = _after_space(text, 0)
    return _lines(text, at, 1 + text.count("\n", 0, at), None)


def _lines(text: str, at: int, line: int, shown: int | None) -> Lines:
    """Return the lines of the value at an offset; it begins on `line`, and `shown` is said to be its line if not None.

    What it holds is found when it is asked for.
    """
    own = line if shown is None else shown
    if text[at] == "{":
        return Branch(own, _members(text, at, line))
    return Branch(own, _items(text, at, line)) if text[at] == "[" else own


def _members(text: str, at: int, line: int) -> dict[str, Lines]:
    children: dict[str, Lines] = {}
    before, at = at, _after_space(text, at + 1)
    while text[at] == '"':
        line += text.count("\n", before, at)
        key, end = _SKIP(text, at)
        start = _after_space(text, _after_space(text, end) + 1)
        first = line + text.count("\n", at, start)
        children[key] = Deferred(partial(_lines, text, start, first, line))
        before, at = at, _after_space(text, _SKIP(text, start)[1])
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return children


def _items(text: str, at: int, line: int) -> list[Lines]:
    children: list[Lines] = []
    before, at = at, _after_space(text, at + 1)
    while text[at] != "]":
        line += text.count("\n", before, at)
        children.append(Deferred(partial(_lines, text, at, line, None)))
        before, at = at, _after_space(text, _SKIP(text, at)[1])
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return children


def _after_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]
