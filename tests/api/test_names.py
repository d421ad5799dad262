"""Name formats, against Kubernetes' limits."""

from __future__ import annotations

import pytest

from dra_api import names


@pytest.mark.parametrize("text", ["a", "my-name", "123-abc", "a" * 63])
def test_labels_that_are_fine(text: str) -> None:
    assert names.label_problems(text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must be a lowercase RFC 1123 label"),
        ("A", "must be a lowercase RFC 1123 label"),
        ("-a", "must be a lowercase RFC 1123 label"),
        ("a\n", "must be a lowercase RFC 1123 label"),
        ("a.b", "must not contain dots"),
        ("a" * 64, "must be no more than 63 bytes"),
    ],
)
def test_labels_that_are_not(text: str, problem: str) -> None:
    assert names.label_problems(text)[0].startswith(problem)


@pytest.mark.parametrize(
    ("text", "fine"),
    [("a.b-c", True), ("a..b", False), ("a" * 253, True), ("a" * 254, False), ("ä", False), ("", False)],
)
def test_subdomains(text: str, fine: bool) -> None:
    assert (names.subdomain_problems(text) == []) is fine


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("a", True),
        ("A_b.c", True),
        ("example.com/a", True),
        ("/a", False),
        ("a/", False),
        ("a/b/c", False),
        ("E.com/a", False),
    ],
)
def test_qualified_names(text: str, fine: bool) -> None:
    assert (names.qualified_name_problems(text) == []) is fine


@pytest.mark.parametrize(("text", "fine"), [("", True), ("a_b", True), ("-", False), ("a" * 64, False), ("a b", False)])
def test_label_values(text: str, fine: bool) -> None:
    assert (names.label_value_problems(text) == []) is fine


@pytest.mark.parametrize(("text", "fine"), [("a1", True), ("_", True), ("1a", False), ("a-b", False), ("", False)])
def test_c_identifiers(text: str, fine: bool) -> None:
    assert (names.c_identifier_problems(text) == []) is fine


def test_lengths_are_in_bytes() -> None:
    assert names.byte_length("ä") == 2
    assert names.byte_length("\ud800") == 3


def test_uids_are_lower_case_uuids() -> None:
    assert names.is_uid("0f3a5c0e-8b62-4c0a-9f5e-1a2b3c4d5e6f")
    assert not names.is_uid("0F3a5c0e-8b62-4c0a-9f5e-1a2b3c4d5e6f")
    assert not names.is_uid("0f3a5c0e8b624c0a9f5e1a2b3c4d5e6f")
