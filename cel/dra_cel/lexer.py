"""Text to tokens: one regular expression, longest match first, as CEL's grammar has it."""

from __future__ import annotations

import re
from typing import NamedTuple

from dra_cel.errors import CompileError
from dra_cel.slices import tick


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: INT, UINT, FLOAT, STRING, BYTES, IDENT, ESCAPED, END, or the operator or keyword itself.
        text: as written.
        offset: in code points.

    """

    kind: str
    text: str
    offset: int


ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])"
_STRING = rf"""(?:
    [rR](?:\"{{3}}(?s:.*?)\"{{3}} | '{{3}}(?s:.*?)'{{3}} | "[^"\n\r]*" | '[^'\n\r]*')
  | \"{{3}}(?:{ESCAPE}|[^\\])*?\"{{3}}
  | '{{3}}(?:{ESCAPE}|[^\\])*?'{{3}}
  | "(?:{ESCAPE}|[^\\"\n\r])*"
  | '(?:{ESCAPE}|[^\\'\n\r])*'
)"""
_TOKEN = re.compile(
    rf"""
    (?P<SPACE>(?:[\t\ \r\n\f]+|//[^\n]*)+)
  | (?P<BYTES>[bB]{_STRING})
  | (?P<STRING>{_STRING})
  | (?P<IDENT>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<INT>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<ESCAPED>`[A-Za-z0-9_./\- ]+`)
  | (?P<OPERATOR>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])
    """,
    re.VERBOSE,
)
_KEYWORDS = frozenset({"in", "true", "false", "null"})


def tokenize(text: str) -> list[Token]:
    """Return the tokens of an expression, with END as the last one.

    Raises:
        CompileError: a character or an unterminated string that no token starts with.

    """
    tokens = []
    position = 0
    for match in _TOKEN.finditer(text):
        if match.start() != position:
            break
        tick()
        position = match.end()
        kind = match.lastgroup or ""
        if kind != "SPACE":
            word = match.group()
            if kind == "OPERATOR" or word in _KEYWORDS:
                kind = word
            tokens.append(Token(kind, word, match.start()))
    if position != len(text):
        raise CompileError(_describe(text[position]), text, position)
    length = len(text)
    tokens.append(Token("END", "", length))
    return tokens


def _describe(character: str) -> str:
    if character in "\"'":
        return f"Syntax error: the string that starts with {character} has no end, or a wrong escape"
    if character == "`":
        return "Syntax error: a quoted name has the form `name` with letters, digits, _ . - / and blanks"
    return f"Syntax error: unexpected character {character!r}"
