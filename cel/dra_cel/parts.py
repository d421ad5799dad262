"""The operands of `&&`, `||`, `!` and `?:` of an expression, as they are written: what a selector is made of.

Operands within calls, macros, lists and indexes are left alone: variables of macros mean nothing outside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dra_cel.lexer import Token, tokenize

Operator = Literal["", "!", "&&", "||", "?:"]

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_BINARY = frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%"))


@dataclass(frozen=True, slots=True)
class Part:
    """An expression and its operands.

    Attributes:
        text: as it is written, without parentheses around it.
        operator: what joins the operands; empty: there are none.
        operands: two or more of `&&` and `||`, one of `!`, three of `?:`.

    """

    text: str
    operator: Operator = ""
    operands: tuple[Part, ...] = ()


def parts(text: str) -> Part:
    """Return an expression with its operands.

    Args:
        text: an expression that compiles.

    Raises:
        CompileError: it has characters that begin no token.

    """
    return _Splitter(text).split(0, None)


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)[:-1]
        self._depths = _depths(self._tokens)

    def split(self, start: int, end: int | None) -> Part:
        """Return the part between two tokens, `end` excluded."""
        end = len(self._tokens) if end is None else end
        while self._is_wrapped(start, end):
            start, end = start + 1, end - 1
        text = self._slice(start, end)
        level = self._depths[start] if start < end else 0
        choice = self._ternary(start, end, level)
        if choice is not None:
            question, colon = choice
            branches = (self.split(start, question), self.split(question + 1, colon), self.split(colon + 1, end))
            return Part(text, "?:", branches)
        operators: tuple[Literal["||", "&&"], ...] = ("||", "&&")
        for operator in operators:
            cuts = [i for i in range(start, end) if self._tokens[i].kind == operator and self._depths[i] == level]
            if cuts:
                bounds = zip([start, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True)
                return Part(text, operator, tuple(self.split(*bound) for bound in bounds))
        if start < end and self._tokens[start].kind == "!" and not self._has_binary(start, end, level):
            return Part(text, "!", (self.split(start + 1, end),))
        return Part(text)

    def _slice(self, start: int, end: int) -> str:
        if start >= end:
            return ""
        last = self._tokens[end - 1]
        return self._text[self._tokens[start].offset : last.offset + len(last.text)]

    def _is_wrapped(self, start: int, end: int) -> bool:
        """Tell whether one pair of parentheses is around everything."""
        if end - start < 3 or self._tokens[start].kind != "(" or self._tokens[end - 1].kind != ")":
            return False
        return all(depth > self._depths[start] for depth in self._depths[start + 1 : end - 1])

    def _ternary(self, start: int, end: int, level: int) -> tuple[int, int] | None:
        """Return the places of `?` and `:` of the outermost choice, or None."""
        question, open_ = -1, 0
        for i in range(start, end):
            if self._depths[i] != level:
                continue
            kind = self._tokens[i].kind
            if kind == "?" and self._tokens[i - 1].kind != ".":
                question, open_ = (i if question < 0 else question), open_ + 1
            elif kind == ":":
                open_ -= 1
                if not open_:
                    return question, i
        return None

    def _has_binary(self, start: int, end: int, level: int) -> bool:
        return any(self._tokens[i].kind in _BINARY and self._depths[i] == level for i in range(start, end))


def _depths(tokens: Sequence[Token]) -> list[int]:
    """Return how many brackets are open at each token; a bracket counts as outside of itself."""
    depths, depth = [], 0
    for token in tokens:
        if token.kind in _CLOSING:
            depth -= 1
        depths.append(depth)
        if token.kind in _OPENING:
            depth += 1
    return depths
