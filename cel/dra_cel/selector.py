"""The facade: compile an expression once, ask it about devices and about columns of devices."""

from __future__ import annotations

from dra_cel.columns import ColumnKey, ColumnSource, RowArray
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError
from dra_cel.masks import Masks
from dra_cel.parser import parse


class Selector:
    """A compiled selector. It is immutable and safe to share.

    Attributes:
        text: the expression.
        reads: the columns it may read; None where that is open, for instance with macros over whole maps.
        estimated_cost: Kubernetes' static worst-case cost.

    """

    text: str
    reads: frozenset[ColumnKey] | None
    estimated_cost: int | None

    def matches(self, device: DeviceFields) -> bool:
        """Evaluate it for one device.

        Raises:
            EvaluationError: a missing key, a type mismatch, a result that is no bool, ...

        """
        raise CompileError("not supported yet: evaluation", self.text, 0)

    def masks(self, columns: ColumnSource, rows: RowArray | None = None) -> Masks:
        """Evaluate it for all rows of a table, or for the given row numbers only."""
        raise CompileError("not supported yet: masks", self.text, 0)

    def resolve(self, columns: ColumnSource, row: int) -> bool:
        """Evaluate a row that `masks` left unknown.

        Raises:
            EvaluationError: as in `matches`.

        """
        return self.matches(columns.fields(row))


def compile_selector(
    text: str, *, new_expression: bool = False, list_attributes: bool = True, consumable_capacity: bool = True
) -> Selector:
    """Compile the text of a CEL selector.

    Args:
        text: the expression.
        new_expression: check it as the API server checks new objects; otherwise as stored ones.
        list_attributes: gate DRAListTypeAttributes, counts for new expressions.
        consumable_capacity: gate DRAConsumableCapacity, counts for new expressions.

    Raises:
        CompileError: the text is no valid selector.

    """
    parse(text)
    raise CompileError("not supported yet: type check", text, 0)
