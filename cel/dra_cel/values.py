"""Values at run time.

bool, int, `UInt`, float, str, bytes and None are Python's own; lists are tuples; everything else is a
class of this package. The class of a value is its CEL type, so bool is never taken for int.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dra_cel.errors import EvaluationError
from dra_cel.semver import Semver
from dra_cel.uint import MAX_INT, MAX_UINT, MIN_INT, UInt

MISSING: Any = object()
"""Returned by lookups that find nothing."""


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: what `type(x)` returns and what the name of a type stands for."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """An optional value; `value` is MISSING where there is none."""

    value: Any = MISSING

    @property
    def present(self) -> bool:
        """Whether there is a value."""
        return self.value is not MISSING

    def cost_size(self) -> int:
        """Return the size that cost rules use: that of the value."""
        from dra_cel.functions.charges import size_of

        return size_of(self.value) if self.present else 1


NONE = Optional()


class CelMap:
    """A map. Keys compare as CEL's do: `1`, `1u` and `1.0` find each other, true and 1 do not.

    Attributes:
        default: what a lookup of an absent key returns; MISSING: it fails. Membership and size ignore it.

    """

    __slots__ = ("_entries", "_of_strings", "default")

    def __init__(self, default: Any = MISSING) -> None:
        self._entries: dict[object, tuple[Any, Any]] = {}
        self._of_strings = False
        self.default = default

    @classmethod
    def of_strings(cls, entries: dict[str, Any], default: Any = MISSING) -> CelMap:
        """Return a map with string keys: unlike maps of the language it can be asked for keys of any type."""
        result = cls(default)
        result._of_strings = True
        result._entries = {key: (key, value) for key, value in entries.items()}
        return result

    def put(self, key: Any, value: Any) -> None:
        """Add or replace an entry."""
        self._entries[_identity(key)] = (key, value)

    def discard(self, key: Any) -> None:
        """Remove an entry if it is there."""
        self._entries.pop(_identity(key), None)

    def copy(self) -> CelMap:
        """Return a map with the same entries."""
        result = CelMap(self.default)
        result._entries = dict(self._entries)
        return result

    def get(self, key: Any) -> Any:
        """Return the value of a key, or MISSING."""
        entries = self._entries
        if type(key) is str:
            found = entries.get(key)
        else:
            if not entries:
                return self.default
            found = next((entries[k] for k in _identities(key) if k in entries), None)
        return self.default if found is None else found[1]

    def __contains__(self, key: Any) -> bool:
        if self._of_strings and type(key) is not str:
            return False
        return any(k in self._entries for k in _identities(key)) if self._entries else False

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._entries.values()])

    def items(self) -> list[tuple[Any, Any]]:
        """Return the entries in the order in which they were added."""
        return list(self._entries.values())

    def cost_size(self) -> int:
        """Return the size that cost rules use."""
        return len(self._entries)


def _identity(key: Any) -> object:
    if type(key) is str:
        return key
    if type(key) is bytes or type(key) is Semver:
        raise EvaluationError(f"{type_name(key)} cannot be a map key")
    return type(key), key if isinstance(key, int | float | None) else id(key)


def _identities(key: Any) -> list[object]:
    """Return the identities of all keys that are equal to this one."""
    kind = type(key)
    if kind not in (int, UInt, float):
        return [_identity(key)]
    if kind is float:
        if not key.is_integer():
            return [(float, key)]
        whole = int(key)
    else:
        whole = int(key)
    result: list[object] = [(float, key)] if kind is float else []
    if MIN_INT <= whole <= MAX_INT:
        result.append((int, whole))
    if 0 <= whole <= MAX_UINT:
        result.append((UInt, UInt(whole)))
    return result


EMPTY_MAP = CelMap()

_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    tuple: "list",
    CelMap: "map",
    Optional: "optional_type",
    TypeValue: "type",
}


def register_type_name(class_: type, name: str) -> None:
    """Tell the CEL type of a class of values."""
    _TYPE_NAMES[class_] = name


def type_name(value: Any) -> str:
    """Return the name of a value's type."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


register_type_name(Semver, "kubernetes.Semver")
