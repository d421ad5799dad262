"""Derived attributes: expressions whose value is compared like an attribute (KEP-5304, DRADerivedAttributes)."""

from __future__ import annotations

from typing import Any, cast

from dra_cel import types as t
from dra_cel.compilation import compile_expression
from dra_cel.cost import estimate
from dra_cel.device import AttributeValue, DeviceFields
from dra_cel.environment import environment
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.frame import Frame, Step
from dra_cel.planner import Planner
from dra_cel.semver import Semver
from dra_cel.types import Kind, Type
from dra_cel.values import Optional, TypeValue, type_name

_SCALARS = (bool, int, str, Semver)


class DerivedAttribute:
    """A compiled expression for a derived attribute.

    Attributes:
        text: the expression.

    """

    __slots__ = ("_planner", "_step", "text")

    def __init__(self, planner: Planner, step: Step) -> None:
        self.text: str = planner.checked.text
        self._planner = planner
        self._step = step

    @property
    def estimated_cost(self) -> int:
        """Kubernetes' static worst-case cost; the API server refuses more than 1,000,000."""
        return estimate(self._planner.checked)

    def value(self, device: DeviceFields) -> AttributeValue:
        """Evaluate it for one device.

        Raises:
            EvaluationError: as for a selector, or the value can't be an attribute.

        """
        return self.evaluate(device)[0]

    def evaluate(self, device: DeviceFields) -> tuple[AttributeValue, int]:
        """Evaluate it for one device; return the value and what it cost.

        Raises:
            EvaluationError: as in `value`.

        """
        frame = Frame(device, self._planner.slots)
        try:
            value = _plain(self._step(frame))
            frame.check_cost()
            _check_value(value)
        except EvaluationError as error:
            error.expression = error.expression or self.text
            error.cost = frame.cost
            raise
        return cast(AttributeValue, value), frame.cost


def compile_derived(
    text: str, *, new_expression: bool = False, list_attributes: bool = True, consumable_capacity: bool = True
) -> DerivedAttribute:
    """Compile the expression of a derived attribute.

    Args:
        text: the expression.
        new_expression: check it as the API server checks new objects; otherwise as stored ones.
        list_attributes: gate DRAListTypeAttributes, counts for new expressions.
        consumable_capacity: gate DRAConsumableCapacity, counts for new expressions.

    Raises:
        CompileError: the text is no valid expression, or its type can't be that of an attribute.

    """
    declared = environment(new_expression, list_attributes, consumable_capacity)
    planner, step = compile_expression(text, declared)
    result = planner.checked.result
    is_list = declared.list_results and result.kind is Kind.LIST
    if not _is_scalar(result) and not (is_list and _is_scalar(result.params[0])):
        lists = " or a list of these scalars" if declared.list_results else ""
        message = f"must evaluate to a primitive scalar (string, integer, boolean, semver){lists}, not {result}"
        raise CompileError(message, text, 0)
    return DerivedAttribute(planner, step)


def _is_scalar(type_: Type) -> bool:
    return type_.is_dyn or type_ in (t.BOOL, t.INT, t.STRING, t.SEMVER)


def _plain(value: Any) -> Any:
    """Return what stands for a value of dynamic type: an optional scalar is the scalar, a type is its name."""
    if type(value) is tuple:
        return tuple([_plain_scalar(item) for item in value])
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    inner = value
    while type(inner) is Optional and inner.present:
        inner = inner.value
    if type(inner) is TypeValue:
        return inner.name
    return inner if type(inner) in _SCALARS else value


def _check_value(value: Any) -> None:
    kind = type(value)
    if kind in _SCALARS:
        return
    if kind is not tuple:
        raise EvaluationError(f"unsupported CEL return type: {type_name(value)}")
    if value and type(value[0]) not in _SCALARS:
        raise EvaluationError(f"unsupported list element type: {type_name(value[0])}")
    for index, item in enumerate(value):
        if type(item) is not type(value[0]):
            expected = type_name(value[0]).removeprefix("kubernetes.").lower()
            raise EvaluationError(f"expected list element at index {index} to be {expected}, got {type_name(item)}")
