"""Tokens to syntax tree: recursive descent, with macros expanded on the way.

Nesting is limited as in Kubernetes (250), so recursion is bounded; the frames that it needs are
reserved before parsing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from dra_cel.ast import (
    Call,
    Constant,
    Entry,
    Field,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Message,
    Node,
    Select,
    qualified_name,
)
from dra_cel.errors import CompileError
from dra_cel.lexer import Token, tokenize
from dra_cel.literals import NUMBERS, bytes_value, string_value
from dra_cel.macros import Expander
from dra_cel.slices import tick

MAX_BYTES = 10_240
"""Length of an expression in UTF-8, resource.k8s.io CELSelectorExpressionMaxLength."""
MAX_CODE_POINTS = 100_000
MAX_NESTING = 250
_FRAMES = 12_000
"""Python frames that parsing, checking and evaluating the deepest legal expression may need."""
_SHALLOW = 40

# fmt: off
_RESERVED = frozenset((
    "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
    "namespace", "null", "package", "return", "true", "var", "void", "while",
))
# fmt: on
_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "<": 3,
    "<=": 3,
    ">=": 3,
    ">": 3,
    "==": 3,
    "!=": 3,
    "in": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
    "%": 5,
}  # fmt: skip
_PREFIXES = frozenset("!-")
_SUFFIXES = frozenset(".[{")
_ENDS = frozenset((",", ")", "]", "}", ":", "END"))
"""What may follow an expression."""
_ATOMS = frozenset(("IDENT", "STRING", "BYTES", "INT", "UINT", "FLOAT", "true", "false", "null"))
"""Tokens that may be an expression of their own, as most elements of long lists are."""
_WORDS: dict[str, Constant] = {"true": True, "false": False, "null": None}
_FUNCTION = {operator: f"_{operator}_" for operator in _PRECEDENCE} | {"in": "@in"}

Parsed = tuple[Node, int]
"""A node, and how many operators and selections are nested in it."""


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Raises:
        CompileError: a syntax error, an unusable literal, a misused macro, or a limit: 10,240 bytes,
            100,000 code points, 250 levels.

    """
    if len(text) > MAX_CODE_POINTS:
        raise CompileError(f"the expression has more than {MAX_CODE_POINTS} code points", text[:200], 0)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise CompileError("the expression is no valid Unicode text", text, error.start) from error
    if size > MAX_BYTES:
        raise CompileError(f"the expression has {size} bytes, more than {MAX_BYTES}", text, 0)
    return _Parser(text).parse()


def reserve_frames() -> None:
    """Let Python recurse as deep as the deepest legal expression needs.

    Frames of Python functions live on the heap (Python 3.11 and later), so this risks no overflow.
    """
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._position = 0
        self._token = self._tokens[0]
        self._kind = self._token.kind
        self._nesting = 0
        self._expander = Expander(text)
        self._numbers: dict[str, int | float] = {}

    def parse(self) -> Node:
        node, depth = self._expression()
        if self._kind != "END":
            raise self._unexpected("an operator or the end")
        if depth > _SHALLOW:
            reserve_frames()
        return node

    # --- tokens

    def _advance(self) -> Token:
        token = self._token
        self._position += 1
        self._token = following = self._tokens[self._position]
        self._kind = following.kind
        return token

    def _accept(self, kind: str) -> bool:
        if self._kind != kind:
            return False
        self._advance()
        return True

    def _expect(self, kind: str, wanted: str = "") -> Token:
        if self._kind != kind:
            raise self._unexpected(wanted or repr(kind))
        return self._advance()

    def _unexpected(self, wanted: str) -> CompileError:
        token = self._token
        found = "end of the expression" if token.kind == "END" else repr(token.text)
        return self._error(token.offset, f"Syntax error: unexpected {found}, expected {wanted}")

    def _error(self, offset: int, message: str) -> CompileError:
        return CompileError(message, self._text, offset)

    def _deeper(self, offset: int, depth: int) -> int:
        if depth >= MAX_NESTING:
            raise self._error(offset, f"expression recursion limit exceeded: more than {MAX_NESTING} levels")
        return depth + 1

    # --- grammar, from loose to tight

    def _expression(self) -> Parsed:
        if self._kind in _ATOMS and self._next_kind() in _ENDS and self._nesting < MAX_NESTING:
            return self._primary()
        self._nesting = self._deeper(self._token.offset, self._nesting)
        if self._nesting == _SHALLOW:
            reserve_frames()
        condition = self._binary(1)
        if self._kind == "?":
            offset = self._advance().offset
            then, then_depth = self._binary(1)
            self._expect(":")
            other, other_depth = self._expression()
            depth = self._deeper(offset, max(condition[1], then_depth, other_depth))
            condition = Call(offset, "_?_:_", None, (condition[0], then, other)), depth
        self._nesting -= 1
        return condition

    def _binary(self, minimum: int) -> Parsed:
        left, depth = self._unary() if self._kind in _PREFIXES else self._member()
        while (precedence := _PRECEDENCE.get(self._kind, 0)) >= minimum:
            token = self._advance()
            if precedence <= 2:
                left, depth = self._logical(token, left, depth, precedence)
                continue
            right, right_depth = self._binary(precedence + 1)
            depth = self._deeper(token.offset, max(depth, right_depth))
            left = Call(token.offset, _FUNCTION[token.kind], None, (left, right))
        return left, depth

    def _logical(self, first: Token, left: Node, depth: int, precedence: int) -> Parsed:
        """Parse the rest of `a && b && c`, to a balanced tree."""
        terms, offsets = [left], [first.offset]
        while True:
            right, right_depth = self._binary(precedence + 1)
            terms.append(right)
            depth = max(depth, right_depth)
            if self._kind != first.kind:
                return _balance(_FUNCTION[first.kind], terms, offsets, 0, len(offsets) - 1), depth
            offsets.append(self._advance().offset)

    def _unary(self) -> Parsed:
        kind = self._kind
        if kind == "-" and self._next_kind() in ("INT", "FLOAT"):
            return self._member()
        offset = self._token.offset
        count = 0
        while self._accept(kind):
            tick()
            count += 1
        operand, depth = self._member()
        if count % 2 == 0:
            return operand, depth
        return Call(offset, f"{kind}_", None, (operand,)), depth

    def _next_kind(self) -> str:
        return self._tokens[self._position + 1].kind

    def _member(self) -> Parsed:
        node, depth = self._primary()
        while (kind := self._kind) in _SUFFIXES:
            if kind == ".":
                node, depth = self._dot(node, depth)
            elif kind == "[":
                offset = self._advance().offset
                function = "_[?_]" if self._accept("?") else "_[_]"
                index, index_depth = self._expression()
                self._expect("]")
                depth = self._deeper(offset, max(depth, index_depth))
                node = Call(offset, function, None, (node, index))
            elif kind == "{" and (name := qualified_name(node)) is not None:
                node, depth = self._message(name)
            else:
                break
        return node, depth

    def _dot(self, operand: Node, depth: int) -> Parsed:
        offset = self._advance().offset
        optional = self._accept("?")
        token = self._token
        if token.kind not in ("IDENT", "ESCAPED"):
            raise self._unexpected("a field name (names that are keywords need brackets, as in a['in'])")
        self._advance()
        depth = self._deeper(offset, depth)
        if token.kind == "ESCAPED":
            name = token.text[1:-1]
        else:
            name = token.text
            if self._kind == "(" and not optional:
                return self._member_call(name, operand, depth)
        if optional:
            return Call(offset, "_?._", None, (operand, Literal(token.offset, name))), depth
        return Select(offset, operand, name), depth

    def _member_call(self, name: str, target: Node, depth: int) -> Parsed:
        offset = self._token.offset
        args, args_depth = self._arguments()
        depth = max(depth, self._deeper(offset, args_depth))
        expanded = self._expander.expand_member(offset, name, target, args)
        return expanded if expanded is not None else Call(offset, name, target, args), depth

    def _arguments(self) -> tuple[tuple[Node, ...], int]:
        self._expect("(")
        args: list[Node] = []
        depth = 0
        while self._kind != ")":
            if args:
                self._expect(",", "',' or ')'")
            argument, argument_depth = self._expression()
            args.append(argument)
            depth = max(depth, argument_depth)
        self._advance()
        return tuple(args), depth

    def _primary(self) -> Parsed:
        tick()
        parse_kind = _PRIMARIES.get(self._kind)
        if parse_kind is None:
            raise self._unexpected("an expression")
        return parse_kind(self)

    def _nested(self) -> Parsed:
        self._advance()
        inner = self._expression()
        self._expect(")", "')' or an operator")
        return inner

    def _name(self) -> Parsed:
        dot = "." if self._accept(".") else ""
        token = self._expect("IDENT", "a name")
        if token.text in _RESERVED:
            raise self._error(token.offset, f"reserved identifier: {token.text}")
        name = dot + token.text
        if self._kind != "(":
            return Ident(token.offset, name), 0
        offset = self._token.offset
        args, depth = self._arguments()
        expanded = self._expander.expand_global(offset, name, args)
        return expanded if expanded is not None else Call(offset, name, None, args), depth

    def _list(self) -> Parsed:
        offset = self._advance().offset
        elements: list[Node] = []
        optional = []
        depth = 0
        while not self._end_of_items("]", bool(elements)):
            if self._accept("?"):
                optional.append(len(elements))
            element, element_depth = self._expression()
            elements.append(element)
            depth = max(depth, element_depth)
        return ListExpr(offset, tuple(elements), frozenset(optional)), depth

    def _map(self) -> Parsed:
        offset = self._advance().offset
        entries: list[Entry] = []
        depth = 0
        while not self._end_of_items("}", bool(entries)):
            optional = self._accept("?")
            key, key_depth = self._expression()
            colon = self._expect(":").offset
            value, value_depth = self._expression()
            entries.append(Entry(colon, key, value, optional))
            depth = max(depth, key_depth, value_depth)
        return MapExpr(offset, tuple(entries)), depth

    def _message(self, name: str) -> Parsed:
        offset = self._advance().offset
        fields: list[Field] = []
        depth = 0
        while not self._end_of_items("}", bool(fields)):
            optional = self._accept("?")
            token = self._token
            if token.kind not in ("IDENT", "ESCAPED"):
                raise self._unexpected("a field name")
            self._advance()
            colon = self._expect(":").offset
            value, value_depth = self._expression()
            fields.append(Field(colon, token.text.strip("`"), value, optional))
            depth = max(depth, value_depth)
        return Message(offset, name, tuple(fields)), depth

    def _end_of_items(self, close: str, started: bool) -> bool:
        """Consume a separator or the closing bracket; return whether it was the latter."""
        if started and self._kind != close:
            if self._kind != ",":
                raise self._unexpected(f"',' or {close!r}")
            self._advance()
        elif not started and self._kind == "," and self._next_kind() == close:
            self._advance()
        return self._accept(close)

    def _number(self) -> Parsed:
        token = self._advance()
        return self._converted(token.offset, token.kind, token.text)

    def _negative(self) -> Parsed:
        if self._next_kind() not in ("INT", "FLOAT"):
            raise self._unexpected("an expression")
        offset = self._advance().offset
        token = self._advance()
        return self._converted(offset, token.kind, f"-{token.text}")

    def _converted(self, offset: int, kind: str, text: str) -> Parsed:
        value = self._numbers.get(text)
        if value is None:
            value = NUMBERS[kind](text)
            if value is None:
                raise self._error(offset, f"invalid {kind.lower().replace('float', 'double')} literal")
            self._numbers[text] = value
        return Literal(offset, value), 0

    def _text_literal(self) -> Parsed:
        token = self._advance()
        convert = string_value if token.kind == "STRING" else bytes_value
        return Literal(token.offset, convert(token, self._text)), 0

    def _word(self) -> Parsed:
        token = self._advance()
        return Literal(token.offset, _WORDS[token.kind]), 0


_PRIMARIES: dict[str, Callable[[_Parser], Parsed]] = {
    "IDENT": _Parser._name,
    ".": _Parser._name,
    "(": _Parser._nested,
    "[": _Parser._list,
    "{": _Parser._map,
    "-": _Parser._negative,
    "STRING": _Parser._text_literal,
    "BYTES": _Parser._text_literal,
    **dict.fromkeys(NUMBERS, _Parser._number),
    **dict.fromkeys(_WORDS, _Parser._word),
}


def _balance(function: str, terms: list[Node], offsets: list[int], low: int, high: int) -> Node:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balance(function, terms, offsets, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balance(function, terms, offsets, middle + 1, high)
    return Call(offsets[middle], function, None, (left, right))
