"""Checks of `"...".format([...])` where both format and list are written out."""

from __future__ import annotations

from dra_cel.ast import Call, ListExpr, Literal, MapExpr, Node
from dra_cel.checker import Checked
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.functions.formatting import CLAUSES, Clause, parse_format
from dra_cel.types import DYN


def check_format(checked: Checked, node: Call) -> None:
    """Check a call of `format`.

    Raises:
        CompileError: a wrong clause, too few or too many arguments, or an argument that a clause can't take.

    """
    target, arguments = node.target, node.args[0]
    if not isinstance(target, Literal) or type(target.value) is not str or not isinstance(arguments, ListExpr):
        return
    try:
        clauses = [clause for _, clause, _ in parse_format(target.value) if clause is not None]
    except EvaluationError as error:
        raise CompileError(error.message, checked.text, node.offset) from error
    wanted, given = len(clauses), len(arguments.elements)
    if wanted > given:
        raise CompileError(f"format: index {given} out of range", checked.text, node.offset)
    if given > wanted:
        message = f"too many arguments supplied to string.format (expected {wanted}, got {given})"
        raise CompileError(message, checked.text, node.offset)
    for clause, argument in zip(clauses, arguments.elements, strict=True):
        _check_argument(checked, clause, argument)


def _check_argument(checked: Checked, clause: Clause, node: Node) -> None:
    type_ = checked.types[node]
    # Only dyn passes unseen: `any`, the type of attributes in a new expression without lists, does not.
    if type_ != DYN and type_.kind not in clause.kinds:
        message = f"error during formatting: {clause.rule}, was given {type_}"
        raise CompileError(message, checked.text, node.offset)
    if clause is not CLAUSES["s"]:
        return
    if isinstance(node, ListExpr):
        for element in node.elements:
            _check_argument(checked, clause, element)
    elif isinstance(node, MapExpr):
        for entry in node.entries:
            _check_argument(checked, clause, entry.key)
            _check_argument(checked, clause, entry.value)
