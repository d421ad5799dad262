"""The texts of the demo's picture: devices in the widest form that fits, names in a row, short messages."""

from __future__ import annotations

import pytest
from rich.color import Color
from rich.style import Style

from dra_scheduler.cli.embedded.cells import Cell, Row
from dra_scheduler.cli.embedded.cells_text import Form, cells_text, form_for
from dra_scheduler.cli.embedded.colors import FREE, INK, PALETTE, UNAVAILABLE, Colors
from dra_scheduler.cli.embedded.wording import device_names, event_message

GPU = [
    Cell("whole", group="gpu-0"),
    Cell("half-0", ("a/b",), group="gpu-0"),
    Cell("half-1", blocked=True, group="gpu-0"),
]
OTHER = [Cell("whole", group="gpu-1"), Cell("half-0", tainted=True, group="gpu-1")]
LOOKS = {
    Form.NAMED: " whole   half-0   half-1   whole   half-0 ",
    Form.SPACED: "□ ■ · □ ·",
    Form.GROUPED: "□■· □·",
    Form.DENSE: "□■·□·",
}


@pytest.mark.parametrize(("form", "look"), LOOKS.items())
def test_devices_are_shown_in_the_widest_form_that_fits(form: Form, look: str) -> None:
    cells = [*GPU, *OTHER]
    assert cells_text(cells, form, Colors()).plain == look
    assert form_for([Row("node", cells)], len(look)) is form
    assert form_for([Row("node", cells), Row("other", cells[:1])], len(look)) is form, "every row in the same form"


def test_where_nothing_fits_the_densest_form_is_left() -> None:
    assert form_for([Row("node", GPU)], 1) is Form.DENSE


def test_devices_of_their_own_are_not_pushed_together_as_partitions_are() -> None:
    assert cells_text([Cell("a"), Cell("b")], Form.GROUPED, Colors()).plain == "□ □"


def luminance(color: Color | None) -> float:
    assert color is not None
    parts = [value / 255 for value in color.get_truecolor()]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: float, other: float) -> float:
    """Of two luminances, as the Web Content Accessibility Guidelines have it."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize("style", [FREE, *(f"{INK} on {color}" for color in PALETTE)])
def test_a_cells_name_can_be_read_on_it(style: str) -> None:
    parsed = Style.parse(style)
    assert contrast(luminance(parsed.color), luminance(parsed.bgcolor)) >= 4.5


def test_what_has_no_ground_of_its_own_can_be_read_on_black_and_on_white() -> None:
    seen = luminance(Style.parse(UNAVAILABLE).color)
    assert contrast(seen, 0.0) > 3.0
    assert contrast(seen, 1.0) > 3.0


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["gpu-0"], "gpu-0"),
        (["gpu-1", "gpu-0"], "gpu-0, gpu-1"),
        ([f"gpu-{number}" for number in range(12)], "gpu-0 to gpu-11"),
        (["gpu-0", "gpu-1", "gpu-2", "gpu-4"], "gpu-0 to gpu-2, gpu-4"),
        (["a-2", "b-3", "b-4", "b-5"], "a-2, b-3 to b-5"),
        (["gpu", "nic"], "gpu, nic"),
    ],
)
def test_devices_in_a_row_are_the_first_and_the_last(names: list[str], text: str) -> None:
    assert device_names(names) == text


@pytest.mark.parametrize(
    ("reason", "message", "text"),
    [
        ("Scheduled", "Successfully assigned default/a to node-1", "a: assigned to node-1"),
        ("FailedScheduling", "claim c: none is free; all are in use. 0/4 nodes", "a: claim c: none is free"),
        ("Other", "first; second. third", "a: first; second. third"),
    ],
)
def test_events_say_what_is_not_said_elsewhere(reason: str, message: str, text: str) -> None:
    involved = {"kind": "Pod", "namespace": "default", "name": "a"}
    assert event_message({"involvedObject": involved, "reason": reason, "message": message}) == text
