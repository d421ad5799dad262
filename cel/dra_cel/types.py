"""Static types, and the short notation in which the function table writes them."""

from __future__ import annotations

import enum
import functools


class Kind(enum.Enum):
    """What sort of type it is."""

    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"
    NULL = "null_type"
    DYN = "dyn"
    ANY = "any"
    TIMESTAMP = "google.protobuf.Timestamp"
    DURATION = "google.protobuf.Duration"
    LIST = "list"
    MAP = "map"
    TYPE = "type"
    STRUCT = "struct"
    OPAQUE = "opaque"
    PARAM = "parameter"

    __hash__ = object.__hash__  # by identity, which is much faster than by name


class Type:
    """A type with its parameters. Immutable; written out, because the checker makes thousands of them.

    Attributes:
        kind: what sort of type it is.
        name: as expressions and error messages write it.
        params: element types; the wrapped type of `type(T)` and `optional_type(T)`.
        nullable: whether it is one of the protobuf wrappers, which accept null; does not count for equality.
        size: number of types in it, to refuse monstrous ones.
        is_open: whether it contains a type parameter.
        is_dyn: whether anything may be assigned to it and from it.

    """

    __slots__ = ("_hash", "is_dyn", "is_open", "kind", "name", "nullable", "params", "size")

    def __init__(self, kind: Kind, name: str, params: tuple[Type, ...] = (), nullable: bool = False) -> None:
        self.kind = kind
        self.name = name
        self.params = params
        self.nullable = nullable
        self.is_dyn = kind is Kind.DYN or kind is Kind.ANY
        self.is_open = kind is Kind.PARAM
        self._hash: int | None = None  # types share parts, so counting them again takes too long
        self.size = 1
        for param in params:
            self.size += param.size
            if param.is_open:
                self.is_open = True

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Type):
            return NotImplemented
        if self.kind is not other.kind or self.name != other.name or self.size != other.size:
            return False
        return self.params == other.params if self.size <= SMALL else _equal_parts(self, other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.name, self.params))
        return self._hash

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    def __repr__(self) -> str:
        return f"Type({self})"

    @property
    def is_optional(self) -> bool:
        """Whether it is `optional_type(T)`."""
        return self.kind is Kind.OPAQUE and self.name == OPTIONAL_NAME


OPTIONAL_NAME = "optional_type"
SMALL = 16
"""Types with more parts are walked with care: they may share parts."""


def _equal_parts(left: Type, right: Type) -> bool:
    """Compare large types: those of nested literals share parts, so each pair is looked at once."""
    pending = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pending:
        mine, other = pending.pop()
        if mine is other or (id(mine), id(other)) in seen:
            continue
        seen.add((id(mine), id(other)))
        if mine.kind is not other.kind or mine.name != other.name or mine.size != other.size:
            return False
        pending.extend(zip(mine.params, other.params, strict=True))
    return True


def _simple(kind: Kind) -> Type:
    return Type(kind, kind.value)


BOOL = _simple(Kind.BOOL)
INT = _simple(Kind.INT)
UINT = _simple(Kind.UINT)
DOUBLE = _simple(Kind.DOUBLE)
STRING = _simple(Kind.STRING)
BYTES = _simple(Kind.BYTES)
NULL = _simple(Kind.NULL)
DYN = _simple(Kind.DYN)
ANY = Type(Kind.ANY, "google.protobuf.Any")
TIMESTAMP = Type(Kind.TIMESTAMP, "timestamp")
DURATION = Type(Kind.DURATION, "duration")
TYPE = _simple(Kind.TYPE)


@functools.lru_cache(maxsize=256)
def struct(name: str) -> Type:
    """Return the type of objects with that name."""
    return Type(Kind.STRUCT, name)


DEVICE = struct("kubernetes.DRADevice")
QUANTITY = struct("kubernetes.Quantity")
SEMVER = struct("kubernetes.Semver")
URL = struct("kubernetes.URL")
FORMAT = struct("kubernetes.NamedFormat")
IP = Type(Kind.OPAQUE, "net.IP")
CIDR = Type(Kind.OPAQUE, "net.CIDR")


MAX_KNOWN = 4096
_known: dict[tuple[object, ...], Type] = {}


def compound(kind: Kind, name: str, params: tuple[Type, ...]) -> Type:
    """Return a type with parameters.

    Closed ones are the same object where they are equal, as long as not too many are known: two types that double
    with every level would take thousands of steps to compare.
    """
    for param in params:
        if param.is_open:
            return Type(kind, name, params)
    key = (kind, name, *map(id, params))
    known = _known.get(key)
    if known is None:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        known = _known[key] = Type(kind, name, params)
    return known


def list_of(element: Type) -> Type:
    """Return `list(element)`."""
    return compound(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return `map(key, value)`."""
    return compound(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return `optional_type(value)`."""
    return compound(Kind.OPAQUE, OPTIONAL_NAME, (value,))


def type_of(value: Type) -> Type:
    """Return `type(value)`, the type of a type's name."""
    return compound(Kind.TYPE, "type", (value,))


def parameter(name: str) -> Type:
    """Return a type parameter."""
    return Type(Kind.PARAM, name)


def wrapper(wrapped: Type) -> Type:
    """Return the protobuf wrapper of a primitive type: it also accepts null."""
    return Type(wrapped.kind, wrapped.name, wrapped.params, nullable=True)


_NOTATION = {
    "bool": BOOL, "int": INT, "uint": UINT, "double": DOUBLE, "string": STRING, "bytes": BYTES, "null": NULL,
    "dyn": DYN, "timestamp": TIMESTAMP, "duration": DURATION, "Quantity": QUANTITY, "Semver": SEMVER, "URL": URL,
    "IP": IP, "CIDR": CIDR, "Format": FORMAT,
}  # fmt: skip


@functools.lru_cache(maxsize=512)
def parse_type(text: str) -> Type:
    """Return the type that the function table's notation names.

    `list(T)`, `map(K, V)`, `optional(T)` and `type(T)` nest; a single capital letter is a parameter.
    """
    name, bracket, rest = text.partition("(")
    if not bracket:
        return parameter(text) if len(text) == 1 else _NOTATION[text]
    params = tuple(parse_type(part) for part in split_types(rest[:-1]))
    if name == "list":
        return list_of(*params)
    if name == "map":
        return map_of(*params)
    return optional_of(*params) if name == "optional" else type_of(*params)


def split_types(text: str) -> list[str]:
    """Split `A, map(K, V)` at its outer commas."""
    parts = []
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
