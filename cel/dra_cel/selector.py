"""The facade: compile an expression once, ask it about devices and about columns of devices."""

from __future__ import annotations

from functools import partial

from dra_cel.columns import ColumnKey, ColumnSource, RowArray
from dra_cel.compilation import compile_expression
from dra_cel.cost import estimate
from dra_cel.device import DeviceFields
from dra_cel.environment import environment
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.frame import COST_LIMIT, Frame, Step
from dra_cel.leaf import Budget
from dra_cel.masks import Masks
from dra_cel.planner import Planner
from dra_cel.program import Program, build
from dra_cel.slices import Slices
from dra_cel.states import ERROR, TRUE, UNKNOWN
from dra_cel.types import BOOL
from dra_cel.values import type_name

MAX_EVALUATIONS = 4096
"""Evaluations that one call of `masks` does at most: about five milliseconds."""
MAX_COST = 25_000
"""Cost that one call of `masks` spends at most."""


class Selector:
    """A compiled selector. What it says about a device never changes; it only remembers results.

    Attributes:
        text: the expression.

    """

    __slots__ = ("_cost", "_planner", "_program", "_result", "_slots", "_step", "text")

    def __init__(self, planner: Planner, step: Step) -> None:
        self.text: str = planner.checked.text
        self._planner: Planner | None = planner  # needed until cost and program are there
        self._result = str(planner.checked.result)
        self._slots = planner.slots
        self._step = step
        self._cost: int | None = None
        self._program: Program | None = None

    @property
    def result_type(self) -> str:
        """The static type of its value: bool, or dyn where only evaluation tells."""
        return self._result

    @property
    def estimated_cost(self) -> int:
        """Kubernetes' static worst-case cost; the API server refuses more than 1,000,000."""
        if self._cost is None:
            assert self._planner is not None
            self._cost = estimate(self._planner.checked)
        return self._cost

    @property
    def reads(self) -> frozenset[ColumnKey] | None:
        """The columns it may read; None where that is open, for instance with macros over whole maps."""
        return self._columns_program().reads

    def prepare(self) -> None:
        """Build what `masks` needs, which takes about as long as compiling; otherwise the first call does it."""
        self._columns_program()

    def _columns_program(self) -> Program:
        if self._program is None:
            assert self._planner is not None
            split = self.estimated_cost <= COST_LIMIT and not self._planner.aborts
            self._program = build(self._planner, split)
            self._planner = None
        return self._program

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
        return self._run(Frame(device, self._slots))

    def start(self, device: DeviceFields) -> Slices[tuple[bool, int]]:
        """Return the evaluation for one device as work in slices; its value is what `evaluate` returns."""
        return Slices(partial(self.evaluate, device))

    def _run(self, frame: Frame) -> tuple[bool, int]:
        try:
            value = self._step(frame)
            frame.check_cost()
            if type(value) is not bool:
                raise EvaluationError(f"CEL result of type {type_name(value)} could not be converted to bool")
        except EvaluationError as error:
            if error.expression is None:
                error.expression = self.text
            error.cost = frame.cost
            raise
        return value, frame.cost

    def masks(
        self,
        columns: ColumnSource,
        rows: RowArray | None = None,
        evaluations: int = MAX_EVALUATIONS,
        cost: int = MAX_COST,
    ) -> Masks:
        """Evaluate it for many rows, once per distinct combination of values.

        Results are remembered per column, so that later calls for few rows take microseconds. In slices the columns
        may change during a rest if rows are given: for those that do not change the masks are right.

        Args:
            columns: the table.
            rows: row numbers; None: all rows.
            evaluations: how many combinations this call may evaluate that are not known yet.
            cost: how much cost they may have. What is left over is unknown: it can be asked for again, or
                resolved row by row.

        """
        states = self._columns_program().evaluate(columns, rows, Budget(evaluations, cost))
        return Masks(states == TRUE, states == ERROR, states == UNKNOWN)

    def resolve(self, columns: ColumnSource, row: int) -> bool:
        """Evaluate a row that `masks` left unknown.

        Raises:
            EvaluationError: as in `matches`.

        """
        return self.matches(columns.fields(row))


def start_compiling(text: str) -> Slices[Selector]:
    """Return the work of compiling a stored selector as far as masks need it; a step may raise CompileError."""

    def work() -> Selector:
        selector = compile_selector(text)
        selector.prepare()
        return selector

    return Slices(work)


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
    planner, step = compile_expression(text, declared)
    result = planner.checked.result
    if result not in (BOOL, declared.attribute):
        raise CompileError(f"must evaluate to bool or the unknown type, not {result}", text, 0)
    return Selector(planner, step)
