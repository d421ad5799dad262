"""A node's devices as one line of text: colored as the pods that hold them, in the widest form that fits.

named    gpu-0  gpu-1      a name on the pod's color, on grey when free, struck through when not to be had
spaced   ■ □ ·             held, free, not to be had
grouped  ■··□□ □□□□□       a space only between devices, not between their partitions
dense    ■··□□□□□□□
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise

from rich.text import Text

from dra_scheduler.cli.embedded.cells import Cell, Row
from dra_scheduler.cli.embedded.colors import FREE, INK, UNAVAILABLE, Colors

SIGNS = "■ in use  □ free  · not to be had"
"""What the signs of the narrower forms mean."""


class Form(Enum):
    """How much is said of a device; the widest first."""

    NAMED = "named"
    SPACED = "spaced"
    GROUPED = "grouped"
    DENSE = "dense"


def form_for(places: Iterable[Row], room: int) -> Form:
    """The widest form in which every row fits into `room` columns; dense if none does."""
    rows = [row.cells for row in places]
    return next((form for form in Form if all(_width(cells, form) <= room for cells in rows)), Form.DENSE)


def cells_text(cells: Sequence[Cell], form: Form, colors: Colors) -> Text:
    """The line."""
    text = Text()
    for number, cell in enumerate(cells):
        text.append(_gap(cells[number - 1], cell, form) if number else "")
        text.append(_label(cell, form), style=_style(cell, form, colors))
    return text


def _width(cells: Sequence[Cell], form: Form) -> int:
    gaps = sum(len(_gap(before, cell, form)) for before, cell in pairwise(cells))
    return gaps + sum(len(_label(cell, form)) for cell in cells)


def _gap(before: Cell, cell: Cell, form: Form) -> str:
    is_joined = form is Form.DENSE or (form is Form.GROUPED and cell.group != "" and cell.group == before.group)
    return "" if is_joined else " "


def _label(cell: Cell, form: Form) -> str:
    if form is Form.NAMED:
        return f" {cell.name} "
    return "■" if cell.holders else "□" if cell.free else "·"


def _style(cell: Cell, form: Form, colors: Colors) -> str:
    if cell.holders:
        color = colors.of(cell.holders[0])
        return f"{INK} on {color}" if form is Form.NAMED else color
    if form is Form.NAMED:
        return FREE if cell.free else f"{UNAVAILABLE} strike"
    return "" if cell.free else UNAVAILABLE
