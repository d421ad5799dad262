"""The texts of `format.X().validate()` are ours; their number, and whether they are sorted, are Kubernetes'."""

from __future__ import annotations

import pytest

from dra_cel import DeviceFields, compile_selector

LABELS = ("dns1123Label", "dns1035Label", "dns1123LabelPrefix", "dns1035LabelPrefix", "labelValue")
SUBDOMAINS = ("dns1123Subdomain", "dns1123SubdomainPrefix")
LONG_LABEL = "ä" * 64
LONG_SUBDOMAIN = "ä" * 300


def found(name: str, text: str) -> tuple[int, bool]:
    """Return how many texts there are, and whether they are sorted."""
    texts = f'format.{name}().validate("{text}").orValue([])'
    device = DeviceFields("d.io", {}, {})
    number = next(n for n in range(9) if compile_selector(f"{texts}.size() == {n}").matches(device))
    return number, compile_selector(f"{texts}.isSorted()").matches(device)


@pytest.mark.parametrize("name", LABELS)
def test_a_long_label_with_wrong_letters_has_two_texts_out_of_order(name: str) -> None:
    assert found(name, LONG_LABEL) == (2, False)


@pytest.mark.parametrize("name", SUBDOMAINS)
def test_a_long_subdomain_with_wrong_letters_has_two_texts_out_of_order(name: str) -> None:
    assert found(name, LONG_SUBDOMAIN) == (2, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (2, True)),
        ("a/", (2, True)),
        ("/a", (1, True)),
        ("/", (3, False)),
        ("A/ö", (2, False)),
        ("a/b/c", (1, True)),
        (LONG_LABEL, (2, True)),
        (f"{LONG_SUBDOMAIN}/{LONG_LABEL}", (4, False)),
        ("a/b", (0, True)),
    ],
)
def test_texts_about_a_qualified_name_are_in_kubernetes_order(text: str, expected: tuple[int, bool]) -> None:
    assert found("qualifiedName", text) == expected
