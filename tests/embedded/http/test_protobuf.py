"""The options of a deletion in protobuf, as clients of Go send them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_embedded.http.protobuf import delete_options
from dra_embedded.status import StatusError


def outcome(body: bytes) -> dict[str, Any] | int:
    """The options, or the code of the refusal."""
    try:
        return delete_options(body)
    except StatusError as error:
        return error.code


def varint(number: int) -> bytes:
    parts = []
    number &= (1 << 64) - 1
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def written(options: dict[str, Any]) -> bytes:
    """The body that a Go client makes of options."""
    raw = b""
    if "gracePeriodSeconds" in options:
        raw += field(1, options["gracePeriodSeconds"])
    if "preconditions" in options:
        numbers = {"uid": 1, "resourceVersion": 2}
        raw += field(2, b"".join(field(numbers[key], text.encode()) for key, text in options["preconditions"].items()))
    if "orphanDependents" in options:
        raw += field(3, int(options["orphanDependents"]))
    if "propagationPolicy" in options:
        raw += field(4, options["propagationPolicy"].encode())
    raw += b"".join(field(5, word.encode()) for word in options.get("dryRun", ()))
    kind = field(1, b"v1") + field(2, b"DeleteOptions")
    return b"k8s\x00" + field(1, kind) + field(2, raw) + field(3, b"") + field(4, b"")


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "gracePeriodSeconds": st.integers(-(1 << 63), (1 << 63) - 1),
        "preconditions": st.fixed_dictionaries({}, optional={"uid": st.text(), "resourceVersion": st.text()}),
        "orphanDependents": st.booleans(),
        "propagationPolicy": st.text(),
        "dryRun": st.lists(st.text(), min_size=1),
    },
)


@given(OPTIONS)
def test_what_was_written_is_read(options: dict[str, Any]) -> None:
    assert delete_options(written(options)) == options


@given(OPTIONS, st.data())
def test_a_body_that_is_cut_is_refused_or_has_fewer_options(options: dict[str, Any], data: st.DataObject) -> None:
    body = written(options)
    cut = body[: data.draw(st.integers(0, len(body) - 1))]
    # The last two fields of the envelope say nothing, so without them nothing is lost.
    assert outcome(cut) in (400, {}, options)


@given(st.binary())
def test_no_bytes_are_worse_than_a_bad_request(body: bytes) -> None:
    for sent in (body, b"k8s\x00" + body, b"k8s\x00" + field(2, body)):
        found = outcome(sent)
        assert found == 400 or isinstance(found, dict)


def test_fields_of_later_versions_are_passed_over() -> None:
    raw = field(1, 5) + field(6, 1) + field(99, b"new")
    assert delete_options(b"k8s\x00" + field(2, raw)) == {"gracePeriodSeconds": 5}


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (field(1, b"5"), "no DeleteOptions"),
        (field(4, 5), "no DeleteOptions"),
        (field(4, b"\xff"), "not UTF-8"),
        (b"\x0d\x00\x00\x00\x00", "no DeleteOptions"),
        (b"\x08" + b"\xff" * 11, "within a number"),
    ],
)
def test_what_is_no_delete_options_is_named(raw: bytes, problem: str) -> None:
    with pytest.raises(StatusError, match=problem):
        delete_options(b"k8s\x00" + field(2, raw))
