"""Tables that people read: rich draws them on a terminal; elsewhere, and when they are long, they are plain columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

Cell = str | Text

_GAP = 3
_LEAST = 24
"""What is left of a column that is folded."""
_DRAWN = 500
"""Rows that rich may draw: each takes it a millisecond."""


@dataclass(slots=True)
class Listing:
    """Rows under names of columns."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    def add_row(self, *cells: Cell) -> None:
        """Add a row with a cell for each column."""
        self.rows.append(cells)

    def __rich__(self) -> Table:
        """Return it as rich draws it: the widest column is folded to the width of the terminal, no other."""
        title = {"title": self.title, "title_justify": "left", "title_style": "bold"}
        table = Table(**title, box=None, pad_edge=False, padding=(0, _GAP, 0, 0))  # type: ignore[arg-type]
        widths = self.widths()
        foldable = widths.index(max(widths))
        for number, column in enumerate(self.columns):
            table.add_column(column, overflow="fold", header_style="dim", no_wrap=number != foldable)
        for row in self.rows:
            table.add_row(*row)
        return table

    def widths(self) -> list[int]:
        """Return what each column takes, with the gap behind it."""
        columns = zip(self.columns, *self.rows, strict=True)
        return [max(cell_len(str(cell)) for cell in column) + _GAP for column in columns]

    def fits(self, width: int) -> bool:
        """Whether a terminal of a width can show it, folding one column: names are not to be cut in pieces."""
        widths = self.widths()
        return sum(widths) - max(widths) + min(_LEAST, max(widths)) <= width

    def plain(self) -> Iterator[str]:
        """Yield its lines without colors: one for each row, whole, nothing behind the last cell."""
        if self.title:
            yield self.title
        rows: list[Sequence[str]] = [self.columns]
        rows += [[str(cell) for cell in row] for row in self.rows]
        widths = self.widths()
        for row in rows:
            yield "".join(
                f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(row, widths, strict=True)
            ).rstrip()


class Screen(Console):
    """A console that leaves listings as they are where nobody looks at a terminal; a closed pipe is BrokenPipeError."""

    def print(self, *objects: Any, **options: Any) -> None:
        """See rich."""
        if len(objects) == 1 and isinstance(objects[0], Listing):
            listing = objects[0]
            if not self.is_terminal or len(listing.rows) > _DRAWN or not listing.fits(self.width):
                self.file.write("".join(f"{line}\n" for line in listing.plain()))
                return
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the program what to do; rich would end it with an error."""
        raise BrokenPipeError


def screen(stream: IO[str], width: int | None) -> Screen:
    """Return a console on a stream; `width` where it is no terminal."""
    if stream.isatty():
        return Screen(file=stream, highlight=False)
    return Screen(file=stream, width=width, highlight=False, no_color=True)
