"""Request bodies in the shape of their kind: types checked, unknown fields dropped, quantities in canonical form.

A typed API server decodes into structs: a wrong type is a bad request, a field that the struct lacks is lost (or with
fieldValidation=Strict refused), null is absent, and a quantity is written back in its canonical form. The shapes are
`dra_api.schemas`'; kinds and parts without one are kept as they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dra_api.decode.fields import wrong_type
from dra_api.errors import DecodeError
from dra_api.quantity import Quantity, QuantityError
from dra_api.schema import Fields, Map, Schema, check_types

_EXACT = {"string": str, "boolean": bool}
"""Types whose values need no further look."""


def shape(value: Any, schema: Schema, unknown: list[str], path: str = "") -> Any:
    """The shaped value; the paths of dropped fields are added to `unknown`. Raises DecodeError for a wrong type."""
    if schema == "any":
        return value
    if schema == "quantity":
        return _quantity(value, path)
    if isinstance(schema, str):
        if type(value) is _EXACT.get(schema):
            return value
        for error in check_types(value, schema, path):
            raise error
        return value
    if isinstance(schema, list):
        if not isinstance(value, list):
            raise wrong_type(path, "a list", value)
        return [_item(each, schema[0], unknown, f"{path}[{index}]") for index, each in enumerate(value)]
    if not isinstance(value, dict):
        raise wrong_type(path, "an object", value)
    if isinstance(schema, Map):
        return {key: _item(each, schema.values, unknown, f"{path}.{key}") for key, each in value.items()}
    return _object(value, schema, unknown, path)


def shape_changed(value: dict[str, Any], schema: Fields, unknown: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """As `shape` of an object; top-level parts that are the very ones of `known`, which has its shape, stay."""
    kept = {key: each for key, each in value.items() if key in known and known[key] is each}
    rest = {key: each for key, each in value.items() if key not in kept}
    shaped: dict[str, Any] = shape(rest, schema, unknown)
    return {key: kept.get(key, shaped.get(key)) for key in value if key in kept or key in shaped}


def _object(value: dict[str, Any], schema: Fields, unknown: list[str], path: str) -> dict[str, Any]:
    shaped = {}
    fields, is_open = schema.fields, schema.open_
    for key, each in value.items():
        expected = fields.get(key)
        if expected is not None:
            if each is not None:
                shaped[key] = shape(each, expected, unknown, f"{path}.{key}" if path else key)
        elif is_open:
            shaped[key] = each
        else:
            unknown.append(f"{path}.{key}" if path else key)
    return shaped


def _item(value: Any, schema: Schema, unknown: list[str], path: str) -> Any:
    """An item of a list or a value of a map: null stands for the empty value of its type."""
    if value is None and schema != "any":
        return _empty(schema)
    return shape(value, schema, unknown, path)


def _empty(schema: Schema) -> Any:
    if isinstance(schema, str):
        return {"string": "", "integer": 0, "boolean": False, "quantity": "0"}.get(schema)
    return [] if isinstance(schema, list) else {}


def _quantity(value: Any, path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise wrong_type(path, "a quantity", value)
    try:
        return _canonical(str(value))
    except QuantityError as error:
        raise DecodeError(path, f"{value!r} is not a quantity: {error}") from error


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    return str(Quantity.parse(text))
