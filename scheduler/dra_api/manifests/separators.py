"""Splitting a YAML text into documents at its separators, mistyped ones (`–--`, `—`, `----`) included."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of one document and the number of its first line; `odd_separator` is the one before it, if mistyped."""

    text: str
    line: int
    odd_separator: str | None = None


def split_documents(text: str) -> Iterator[Chunk]:
    """Yield the parts of a text between its separators, each with its first line's number (from 1).

    A separator starts in the first column; what follows `---` on its line belongs to the next document.
    """
    lines = text.split("\n")
    start, odd = 0, None
    for i, line in enumerate(lines):
        if not line or not _is_dash(line[0]):
            continue
        kind = _separator(line)
        if kind is None:
            continue
        yield Chunk("\n".join(lines[start:i]), start + 1, odd)
        start, odd = i, (line.strip() if kind == "odd" else None)
        # Blanks in its place keep lines and columns as they are in the file.
        lines[i] = "" if kind == "odd" else "   " + line[3:]
    yield Chunk("\n".join(lines[start:]), start + 1, odd)


def _separator(line: str) -> str | None:
    if line.startswith("---") and (len(line) == 3 or line[3] in " \t\r"):
        return "standard"
    bare = line.rstrip()
    if bare in ("-", "---") or not all(_is_dash(char) for char in bare):
        return None
    return "odd"


def _is_dash(char: str) -> bool:
    return char in ("-", _MINUS) or (char > "\x7f" and unicodedata.category(char) == "Pd")
