"""Compiled parts of an expression, and what is known about them in advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dra_cel.frame import Frame, Step
from dra_cel.types import Kind, Type
from dra_cel.uint import UInt
from dra_cel.values import MISSING, CelMap


@dataclass(slots=True, eq=False)
class Plan:
    """A compiled expression. Nothing changes it; see `ast` for why it is not frozen.

    Attributes:
        step: evaluates it.
        type: its static type.
        value: its value where that does not depend on anything; else MISSING.
        cost: what evaluating it costs where `value` is known.
        constant: whether the language treats it as a constant: a literal, a list or map of constants, or a
            converted constant. Constants are free.
        field: set where it is a field of the device or something selected from it; see `fields`.
        chained: whether it is a variable or a selection, so that selecting from it costs one unit only.
        conditional: whether it is `a ? b : c`.
        certain: whether its values surely are of the static type. What the checker inferred for parts of dynamic
            values may be wrong.

    """

    step: Step
    type: Type
    value: Any = MISSING
    cost: int = 0
    constant: bool = False
    field: tuple[str, ...] | None = None
    chained: bool = False
    conditional: bool = False
    certain: bool = False

    @property
    def based(self) -> bool:
        """Whether its cost includes the unit of the variable that a selection starts from."""
        return self.chained and not self.conditional


def constant_plan(value: Any, type_: Type) -> Plan:
    """Return a constant."""

    def step(frame: Frame) -> Any:
        return value

    return Plan(step, type_, value, 0, constant=True, certain=True)


_CLASSES: dict[Kind, type] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.UINT: UInt,
    Kind.DOUBLE: float,
    Kind.STRING: str,
    Kind.BYTES: bytes,
    Kind.LIST: tuple,
    Kind.MAP: CelMap,
}


def certain_class(type_: Type) -> type | None:
    """Return the class that all values of a static type have, or None where that is open.

    Types that accept null are open, as is everything dynamic.
    """
    return None if type_.nullable else _CLASSES.get(type_.kind)
