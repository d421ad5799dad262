"""What an expression may refer to: the variable `device`, types and functions.

Kubernetes has two environments. *Stored* expressions (objects that exist already) see everything that
the release knows, whatever its gates. *New* expressions see what the previous release knew, and fields
behind gates that are on.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dra_cel import types as t
from dra_cel.functions.table import Overload, all_functions

DEVICE_VARIABLE = "device"

Signature = tuple[object, ...]
"""Function, whether it is called on a receiver, identities of the types of the arguments."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One set of declarations.

    Attributes:
        functions: overloads by function name.
        device_fields: static types of `device.<field>`.
        type_names: types that can be named in an expression.
        attribute: static type of an attribute's value.
        list_results: whether a derived attribute may be a list.
        matches: calls that were resolved before: result, overloads, and the arguments, which keep their identities
            as long as they are kept; it only saves time.
        candidates: the overloads that may fit arguments of some kinds; it only saves time.

    """

    functions: Mapping[str, tuple[Overload, ...]]
    device_fields: Mapping[str, t.Type]
    type_names: Mapping[str, t.Type]
    attribute: t.Type
    list_results: bool
    matches: dict[Signature, tuple[t.Type | None, tuple[Overload, ...], Sequence[t.Type]]] = field(
        default_factory=dict, repr=False
    )
    candidates: dict[tuple[object, ...], tuple[Overload, ...]] = field(default_factory=dict, repr=False)


_WRAPPERS = {
    "google.protobuf.BoolValue": t.BOOL,
    "google.protobuf.BytesValue": t.BYTES,
    "google.protobuf.DoubleValue": t.DOUBLE,
    "google.protobuf.FloatValue": t.DOUBLE,
    "google.protobuf.Int32Value": t.INT,
    "google.protobuf.Int64Value": t.INT,
    "google.protobuf.StringValue": t.STRING,
    "google.protobuf.UInt32Value": t.UINT,
    "google.protobuf.UInt64Value": t.UINT,
}
_TYPE_NAMES: dict[str, t.Type] = {
    "bool": t.BOOL,
    "bytes": t.BYTES,
    "double": t.DOUBLE,
    "int": t.INT,
    "string": t.STRING,
    "uint": t.UINT,
    "null_type": t.NULL,
    "list": t.list_of(t.DYN),
    "map": t.map_of(t.DYN, t.DYN),
    "type": t.TYPE,
    "google.protobuf.Any": t.ANY,
    "google.protobuf.Duration": t.DURATION,
    "google.protobuf.Timestamp": t.TIMESTAMP,
    "net.IP": t.IP,
    "net.CIDR": t.CIDR,
    t.OPTIONAL_NAME: t.optional_of(t.DYN),
    **{name: t.wrapper(type_) for name, type_ in _WRAPPERS.items()},
}
MESSAGE_FIELDS = {name: {"value": type_} for name, type_ in _WRAPPERS.items()}
"""Fields of the messages that an expression can construct."""
UNSUPPORTED_MESSAGES = frozenset(
    f"google.protobuf.{name}" for name in ("Any", "Duration", "ListValue", "Struct", "Timestamp", "Value")
)
"""Messages that Kubernetes can construct in an expression and this package can't."""


@functools.lru_cache(maxsize=8)
def environment(new_expression: bool, list_attributes: bool, consumable_capacity: bool) -> Environment:
    """Return the declarations of Kubernetes 1.37 for stored or new expressions."""
    functions = all_functions()
    if new_expression and not list_attributes:
        functions = {name: entries for name, entries in functions.items() if name != "includes"}
    attribute = t.DYN if list_attributes or not new_expression else t.ANY
    by_domain = t.map_of(t.STRING, t.map_of(t.STRING, attribute))
    fields = {
        "driver": t.STRING,
        "attributes": by_domain,
        "capacity": t.map_of(t.STRING, t.map_of(t.STRING, t.QUANTITY)),
    }
    if consumable_capacity or not new_expression:
        fields["allowMultipleAllocations"] = t.BOOL
    return Environment(functions, fields, _TYPE_NAMES, attribute, list_attributes or not new_expression)
