"""The facade: compile an expression once, ask it about devices and about columns of devices."""

from __future__ import annotations

from dra_cel.checker import Checked, check
from dra_cel.columns import ColumnKey, ColumnSource, RowArray
from dra_cel.device import DeviceFields
from dra_cel.environment import Environment, environment
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.frame import Frame
from dra_cel.literal_types import check_literals
from dra_cel.masks import Masks
from dra_cel.parser import parse
from dra_cel.plan import Plan
from dra_cel.planner import Planner
from dra_cel.types import BOOL
from dra_cel.values import type_name


class Selector:
    """A compiled selector. It is immutable and safe to share.

    Attributes:
        text: the expression.
        reads: the columns it may read; None where that is open, for instance with macros over whole maps.
        estimated_cost: Kubernetes' static worst-case cost.

    """

    __slots__ = ("_plan", "_slots", "estimated_cost", "reads", "text")

    def __init__(self, checked: Checked, plan: Plan, slots: int) -> None:
        self.text: str = checked.text
        self.reads: frozenset[ColumnKey] | None = None
        self.estimated_cost: int | None = None
        self._plan = plan
        self._slots = slots

    def matches(self, device: DeviceFields) -> bool:
        """Evaluate it for one device.

        Raises:
            EvaluationError: a missing key, a type mismatch, a result that is no bool, ...

        """
        return self.evaluate(device)[0]

    def evaluate(self, device: DeviceFields) -> tuple[bool, int]:
        """Evaluate it for one device; return the result and what it cost.

        Raises:
            EvaluationError: as in `matches`.

        """
        frame = Frame(device, self._slots)
        try:
            value = self._plan.step(frame)
            frame.check_cost()
            if type(value) is not bool:
                raise EvaluationError(f"CEL result of type {type_name(value)} could not be converted to bool")
        except EvaluationError as error:
            if error.expression is None:
                error.expression = self.text
            raise
        return value, frame.cost

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
    declared = environment(new_expression, list_attributes, consumable_capacity)
    checked, plan, slots = compile_expression(text, declared)
    if checked.result not in (BOOL, declared.attribute):
        raise CompileError(f"must evaluate to bool or the unknown type, not {checked.result}", text, 0)
    return Selector(checked, plan, slots)


def compile_expression(text: str, declared: Environment) -> tuple[Checked, Plan, int]:
    """Parse, check and plan an expression of any result type."""
    checked = check(text, parse(text), declared)
    check_literals(checked)
    planner = Planner(checked)
    return checked, planner.plan(checked.root), planner.slots
