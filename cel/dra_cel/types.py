"""Static types, and the short notation in which the function table writes them."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field


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
    ERROR = "*error*"
    TIMESTAMP = "google.protobuf.Timestamp"
    DURATION = "google.protobuf.Duration"
    LIST = "list"
    MAP = "map"
    TYPE = "type"
    STRUCT = "struct"
    OPAQUE = "opaque"
    PARAM = "parameter"


@dataclass(frozen=True, slots=True)
class Type:
    """A type with its parameters.

    Attributes:
        kind: what sort of type it is.
        name: as expressions and error messages write it.
        params: element types; the wrapped type of `type(T)` and `optional_type(T)`.
        nullable: whether it is one of the protobuf wrappers, which accept null.
        size: number of types in it, to refuse monstrous ones.
        is_open: whether it contains a type parameter.

    """

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()
    nullable: bool = field(default=False, compare=False)
    size: int = field(init=False, compare=False)
    is_open: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(param.size for param in self.params))
        is_open = self.kind is Kind.PARAM or any(param.is_open for param in self.params)
        object.__setattr__(self, "is_open", is_open)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    @property
    def is_dyn(self) -> bool:
        """Whether anything may be assigned to it and from it."""
        return self.kind is Kind.DYN or self.kind is Kind.ANY

    @property
    def is_dyn_or_error(self) -> bool:
        """Like is_dyn; also true for the type of what was already reported as wrong."""
        return self.kind is Kind.DYN or self.kind is Kind.ANY or self.kind is Kind.ERROR

    @property
    def is_optional(self) -> bool:
        """Whether it is `optional_type(T)`."""
        return self.kind is Kind.OPAQUE and self.name == OPTIONAL_NAME


OPTIONAL_NAME = "optional_type"


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
ERROR = _simple(Kind.ERROR)
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


def list_of(element: Type) -> Type:
    """Return `list(element)`."""
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return `map(key, value)`."""
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return `optional_type(value)`."""
    return Type(Kind.OPAQUE, OPTIONAL_NAME, (value,))


def type_of(value: Type) -> Type:
    """Return `type(value)`, the type of a type's name."""
    return Type(Kind.TYPE, "type", (value,))


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
