"""The column program: the boolean structure of an expression over the states of its leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dra_cel import states as s
from dra_cel.ast import Call, Comprehension, Node
from dra_cel.columns import ColumnKey, ColumnSource, RowArray
from dra_cel.leaf import Budget, Leaf
from dra_cel.planner import Planner
from dra_cel.reading import Aliases, Path, Reader, Reads
from dra_cel.states import States

Evaluate = Callable[[ColumnSource, "RowArray | None", Budget], States]


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled column program.

    Attributes:
        evaluate: returns the state of every row.
        reads: the columns it reads; None where some leaf may read everything.

    """

    evaluate: Evaluate
    reads: frozenset[ColumnKey] | None


def build(planner: Planner, split: bool) -> Program:
    """Build the program of an expression that is planned already.

    Args:
        planner: has the plans of all nodes.
        split: whether to take the expression apart; otherwise it is one leaf, which makes costs exact.

    """
    builder = _Builder(planner)
    root = planner.checked.root
    evaluate = builder.structure(root, {}) if split else builder.leaf(root, {})
    return Program(evaluate, builder.reads)


class _Builder:
    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._reader = Reader(planner.checked, lambda node: planner.plan(node).value)
        self.reads: frozenset[ColumnKey] | None = frozenset()

    def structure(self, node: Node, aliases: Aliases) -> Evaluate:
        if isinstance(node, Call):
            if node.function in ("_&&_", "_||_"):
                combine = s.all_of if node.function == "_&&_" else s.any_of
                return _combined(combine, self.structure(node.args[0], aliases), self.structure(node.args[1], aliases))
            if node.function == "!_":
                return _negated(self.structure(node.args[0], aliases))
            if node.function == "_?_:_":
                return _chosen(*[self.structure(argument, aliases) for argument in node.args])
        if isinstance(node, Comprehension) and node.macro == "bind":
            inner: dict[str, Path | Reads] = dict(aliases)
            inner[node.accumulator] = self._reader.alias(node.initial, aliases)
            return self.structure(node.result, inner)
        return self.leaf(node, aliases)

    def leaf(self, node: Node, aliases: Aliases) -> Evaluate:
        columns = self._reader.reads(node, aliases)
        keys = None if columns is None else sorted(columns, key=lambda key: (key.kind, key.name))
        self.reads = None if columns is None or self.reads is None else self.reads | columns
        return Leaf(self._planner.plan(node).step, self._planner.slots, keys).states


def _combined(combine: Callable[[States, States], States], left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(source: ColumnSource, rows: RowArray | None, budget: Budget) -> States:
        return combine(left(source, rows, budget), right(source, rows, budget))

    return evaluate


def _negated(operand: Evaluate) -> Evaluate:
    def evaluate(source: ColumnSource, rows: RowArray | None, budget: Budget) -> States:
        return s.negated(operand(source, rows, budget))

    return evaluate


def _chosen(condition: Evaluate, then: Evaluate, other: Evaluate) -> Evaluate:
    def evaluate(source: ColumnSource, rows: RowArray | None, budget: Budget) -> States:
        return s.chosen(condition(source, rows, budget), then(source, rows, budget), other(source, rows, budget))

    return evaluate
