"""Equality: by value among numbers, by type elsewhere, alone as over columns."""

from __future__ import annotations

import pytest

from dra_cel import DeviceColumns, DeviceFields, compile_selector


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("dyn(true) == dyn(1)", False),
        ("dyn(1) == dyn(true)", False),
        ("dyn(false) == dyn(0)", False),
        ("dyn('1') == dyn(1)", False),
        ("dyn(1) == dyn(1.0)", True),
        ("dyn(1u) == dyn(1)", True),
        ("[dyn(true)] == [dyn(1)]", False),
        ('device.attributes["d"].yes == device.attributes["d"].one', False),
        ('device.attributes["d"].yes != device.attributes["d"].one', True),
        ('device.attributes["d"].yes in [dyn(1)]', False),
    ],
)
def test_bools_are_no_numbers_and_numbers_compare_by_value(text: str, holds: bool) -> None:
    device = DeviceFields("d", {"d/yes": True, "d/one": 1}, {})
    selector = compile_selector(text)
    assert selector.matches(device) is holds
    masks = selector.masks(DeviceColumns([device]))
    assert (bool(masks.match[0]), bool(masks.error[0]), bool(masks.unknown[0])) == (holds, False, False)
