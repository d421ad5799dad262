"""Damage to texts: what typing errors, broken clients and hostile tenants send."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dra_bench.oracle.draw import Draw

MAX_TEXT = 10 * 1024
"""Characters to which texts grow at most: the API server takes no longer expressions."""

CHARACTERS = (
    "\x00\t\n\r \x1b!\"#$%&'()*+,-./0123456789:;<=>?@AZ[\\]^_`az{|}~"
    "\x7f\x85\xa0äß\u0130\u0660\u2028\ud800\ufeff\uff11😀"
)
PIECES = (
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "0x", "1u", "0.0", "null", "true",
    "''", '"""', "\\u12", "\\x", "\\777", "/*", "//", "&&", "||", "==", "in", "?", ":", ".", "..", ",", "r'", "b'",
    "{}", "[]", "[?", ".?", "({[", ")}]", "%", "e+", "Ki", "m", "v1", "-rc.1", "+b", "---\n", "&a", "*a", "!!", "<<: ",
    "- ", "\n  ",
)  # fmt: skip
BRACKETS = (("(", ")"), ("[", "]"), ("{1: ", "}"), ("!(", ")"), ("-", ""), ("f(", ")"), ("x ? ", " : y"), ("a.", ""))

Damage = Callable[[Draw, str, Sequence[str]], str]


def damaged(draw: Draw, text: str, words: Sequence[str] = (), *, most: int = 4) -> str:
    """Return the text with one to `most` changes; `words` are pieces of the language that it is in."""
    for _ in range(draw.number(1, most)):
        text = draw.weighted(_DAMAGES)(draw, text, words)[:MAX_TEXT]
    return text


def _place(draw: Draw, text: str) -> tuple[int, int]:
    start = draw.number(0, len(text))
    return start, min(len(text), start + draw.weighted({1: 6, 3: 3, 10: 2, 100: 1}))


def _cut(draw: Draw, text: str, _: Sequence[str]) -> str:
    start, end = _place(draw, text)
    return text[:start] + text[end:]


def _character(draw: Draw, text: str, _: Sequence[str]) -> str:
    start = draw.number(0, len(text))
    return text[:start] + draw.one(CHARACTERS) + text[start + draw.number(0, 1) :]


def _piece(draw: Draw, text: str, words: Sequence[str]) -> str:
    start = draw.number(0, len(text))
    return text[:start] + draw.one(words if words and draw.chance(0.5) else PIECES) + text[start:]


def _repeat(draw: Draw, text: str, _: Sequence[str]) -> str:
    start, end = _place(draw, text)
    times = draw.weighted({2: 8, 10: 4, 100: 2, 300: 1, 10_000: 1})
    return text[:start] + (text[start:end] * times)[:MAX_TEXT] + text[end:]


def _nest(draw: Draw, text: str, _: Sequence[str]) -> str:
    start, end = _place(draw, text)
    opening, closing = draw.one(BRACKETS)
    times = draw.weighted({1: 8, 10: 4, 60: 2, 260: 1, 2000: 1})
    return text[:start] + opening * times + text[start:end] + closing * times + text[end:]


def _move(draw: Draw, text: str, _: Sequence[str]) -> str:
    start, end = _place(draw, text)
    rest = text[:start] + text[end:]
    to = draw.number(0, len(rest))
    return rest[:to] + text[start:end] + rest[to:]


_DAMAGES: dict[Damage, int] = {_cut: 5, _character: 6, _piece: 6, _repeat: 2, _nest: 2, _move: 3}


def smaller(text: str) -> Iterator[str]:
    """Texts with a piece less, the largest pieces first."""
    size = len(text) // 2
    while size:
        for start in range(0, len(text), size):
            yield text[:start] + text[start + size :]
        size //= 2
