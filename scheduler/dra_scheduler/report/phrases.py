"""Small pieces of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LONGEST_EXPRESSION = 160
_NAMED = 3


def counted(number: int, noun: str) -> str:
    """`1 device`, `2 devices`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {_plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def listed(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def some_of(items: Sequence[str], limit: int = _NAMED, total: int | None = None) -> str:
    """The first items, and how many more there are: `a, b, c and 4 more`."""
    more = (len(items) if total is None else total) - min(limit, len(items))
    shown = list(items[:limit])
    return listed([*shown, f"{more:,} more"]) if more else listed(shown)


def shortened(text: str, limit: int = LONGEST_EXPRESSION) -> str:
    """An expression on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 4]} ..."


def sentences(parts: Sequence[str]) -> str:
    """Put parts together with semicolons; a question mark ends a sentence of its own."""
    text = ""
    for part in parts:
        if text:
            text += " " if text.endswith("?") else "; "
        text += part
    return text


def ended(text: str) -> str:
    """End a text with a full stop unless it has an end."""
    return text if not text or text[-1] in ".?!" else f"{text}."


def tallied(counts: Mapping[str, int], who: Mapping[str, Sequence[str]] | None = None) -> str:
    """`Insufficient cpu (2), Too many pods (node-1)`, most first; only the reason where there is no other.

    `who` names whom a reason concerns; where those are few they take the number's place.
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if len(ordered) == 1:
        return ordered[0][0]
    names = who or {}
    return ", ".join(f"{text} ({_whom(names.get(text, ()), count)})" for text, count in ordered)


def _whom(names: Sequence[str], count: int) -> str:
    return listed(names) if len(names) == count <= _NAMED else f"{count:,}"
