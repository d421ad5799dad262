"""The operands of `&&` at the top of an expression: what a selector asks for, one condition at a time."""

from __future__ import annotations

from dra_cel.lexer import tokenize

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def conjuncts(text: str) -> list[str]:
    """Return the operands as they are written, the whole text where it is no conjunction.

    Args:
        text: an expression that compiles.

    Raises:
        CompileError: it has characters that begin no token.

    """
    depth = 0
    cuts: list[tuple[int, int]] = []
    before = ""
    for token in tokenize(text):
        optional = token.kind == "?" and before == "."
        before = token.kind
        if token.kind in _OPENING:
            depth += 1
        elif token.kind in _CLOSING:
            depth -= 1
        elif depth == 0 and token.kind in ("||", "?") and not optional:
            return [text.strip()]
        elif depth == 0 and token.kind == "&&":
            cuts.append((token.offset, token.offset + len(token.text)))
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
