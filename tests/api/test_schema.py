"""Types of fields: what a strict API server refuses to decode."""

from __future__ import annotations

from typing import Any

import pytest

from dra_api.schema import Fields, Map, Schema, check_types
from dra_api.schemas import SCHEMAS
from support import dra_objects

SCHEMA = Fields(
    {
        "text": "string",
        "count": "integer",
        "flag": "boolean",
        "amount": "quantity",
        "when": "time",
        "raw": "any",
        "list": ["integer"],
        "map": Map("string"),
        "part": Fields({"inner": "integer"}, open_=True),
    }
)


def errors(value: Any, schema: Schema = SCHEMA, **options: bool) -> list[str]:
    return [str(error) for error in check_types(value, schema, **options)]


def test_values_of_the_right_types_pass_and_null_is_absent() -> None:
    value = {
        "text": "x",
        "count": 2**63 - 1,
        "flag": False,
        "amount": 0.5,
        "when": "2026-01-31T12:00:00.123456+02:00",
        "raw": [None, {"x": [1.5]}],
        "list": [1, 2],
        "map": {"a": "b"},
        "part": {"inner": 1, "other": object()},
    }
    assert errors(value) == []
    assert errors(dict.fromkeys(value)) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"text": 5}, 'text: must be a string, not an integer (5); write it with quotes: "5"'),
        ({"text": True}, 'text: must be a string, not a boolean (true); write it with quotes: "true"'),
        ({"count": 1.5}, "count: must be an integer, not a number with a fraction (1.5)"),
        ({"count": 2**63}, "count: is out of range; integers have 64 bits"),
        ({"flag": "true"}, "flag: must be a boolean, not a string ('true'); write it without quotes"),
        ({"amount": "x"}, "amount: 'x' is not a quantity; a quantity is a number with an optional suffix, such as"),
        ({"when": "yesterday"}, "when: 'yesterday' is not a time; write it as 2026-01-31T12:00:00Z (RFC 3339)"),
        ({"when": "2026-02-30T12:00:00Z"}, "when: '2026-02-30T12:00:00Z' is not a time"),
        ({"list": {}}, "list: must be a list, not an object"),
        ({"list": [1, None]}, "list[1]: must not be null; leave it out"),
        ({"map": {"a.b/c": 1}}, "map[a.b/c]: must be a string, not an integer (1)"),
        ({"part": []}, "part: must be an object, not a list"),
        ({"part": {"inner": "1"}}, "part.inner: must be an integer, not a string ('1')"),
        ({"txet": 1}, "txet: unknown field; did you mean text?"),
        ({"zzz": 1}, "zzz: unknown field"),
        ([], "must be an object, not a list"),
    ],
)
def test_a_wrong_type_or_an_unknown_field_is_named(value: Any, message: str) -> None:
    found = errors(value)
    assert len(found) == 1
    assert found[0].startswith(message)


def test_unknown_fields_can_be_passed_over() -> None:
    assert errors({"zzz": 1, "count": "1"}, unknown_fields=False) == [
        "count: must be an integer, not a string ('1'); write it without quotes"
    ]


@pytest.mark.parametrize("obj", dra_objects.all_objects(), ids=lambda obj: str(obj["kind"]))
def test_the_schemas_know_every_field(obj: dict[str, Any]) -> None:
    assert errors(obj, SCHEMAS[obj["kind"]]) == []
