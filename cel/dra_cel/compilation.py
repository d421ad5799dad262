"""From text to what can be evaluated."""

from __future__ import annotations

from dra_cel.checker import check
from dra_cel.environment import Environment
from dra_cel.frame import Step
from dra_cel.literal_types import check_literals
from dra_cel.parser import parse
from dra_cel.planner import Planner


def compile_expression(text: str, declared: Environment) -> tuple[Planner, Step]:
    """Parse, check and plan an expression of any result type.

    Returns:
        What was found out about it, and its compiled form.

    Raises:
        CompileError: the text is no valid expression.

    """
    checked = check(text, parse(text), declared)
    check_literals(checked)
    planner = Planner(checked)
    return planner, planner.plan(checked.root).step
