"""Where in the device the value of an expression comes from, for the static estimate of its cost.

Kubernetes keeps such a path in an array that grows by doubling and that a longer path shares with the shorter
one it was made from, as long as there is room. Two paths made from one therefore can overwrite each other's last
part: with `(k, v)` over `device.attributes["domain"]` the keys count as values. Its estimates depend on that.
"""

from __future__ import annotations


class Path:
    """A sequence of names that begins with a variable; immutable but for the sharing described above."""

    __slots__ = ("_cells", "_length")

    def __init__(self, cells: list[str], length: int) -> None:
        self._cells = cells
        self._length = length

    @classmethod
    def of(cls, variable: str) -> Path:
        """Return the path of a variable."""
        return cls([variable], 1)

    def __bool__(self) -> bool:
        """Return whether it leads anywhere."""
        return self._length > 0

    @property
    def variable(self) -> str:
        """What it begins with; empty where it leads nowhere."""
        return self._cells[0] if self._length else ""

    def extended(self, name: str) -> Path:
        """Return a path with one more name; it may overwrite what another extension of this path ends with."""
        cells, length = self._cells, self._length
        if length == len(cells):
            cells = cells + [""] * max(length, 1)
        cells[length] = name
        return Path(cells, length + 1)

    def names(self) -> tuple[str, ...]:
        """Return the names as they are now."""
        return tuple(self._cells[: self._length])


NOWHERE = Path([], 0)
"""The path of what does not come from a variable."""
