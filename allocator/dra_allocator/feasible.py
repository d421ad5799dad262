"""Which of many nodes can hold the claims: the exact answer for each, in slices.

Counts decide most nodes at once; the others are searched one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.attempt import Attempt, Task, Tools
from dra_allocator.budget import Budget
from dra_allocator.claim import ResourceClaim
from dra_allocator.errors import AttemptFailedError
from dra_allocator.outcome import Allocation, AllocationError
from dra_allocator.requests import ResolvedClaim, resolve
from dra_allocator.taint_rules import TaintRules
from dra_allocator.view import View


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Per node given whether it can hold all claims, and the errors of nodes that fell out by one."""

    fits: BoolArray
    node_errors: Mapping[str, AllocationError] = field(default_factory=dict)


class FeasibleAttempt:
    """Call `step` until it returns a Feasibility, or an AllocationError that concerns all nodes."""

    def __init__(self, tools: Tools, view: View, claims: Sequence[ResourceClaim], nodes: Sequence[str] | IntArray):
        self._tools = tools
        self._view = view
        self._claims = claims
        self._nodes: Sequence[str] | list[int] = nodes.tolist() if isinstance(nodes, np.ndarray) else nodes
        self._fits: BoolArray = np.zeros(len(self._nodes), np.bool_)
        self._errors: dict[str, AllocationError] = {}
        self._resolved: tuple[ResolvedClaim, ...] = ()
        self._left: list[int] | None = None
        self._current: Attempt | None = None

    def step(self, budget: Budget) -> Feasibility | AllocationError | None:
        """Work until there is an answer or the budget is exhausted (None)."""
        if self._left is None:
            try:
                if not self._is_prepared(budget):
                    return None
                self._left = self._survey()
            except AttemptFailedError as failure:
                return failure.error
        while self._left:
            if self._current is None:
                self._current = self._attempt(self._left[-1])
            outcome = self._current.step(budget)
            if outcome is None:
                return None
            if isinstance(outcome, AllocationError):
                if self._current.is_pod_error:
                    return outcome
                self._errors[self._name(self._left[-1])] = outcome
            self._fits[self._left.pop()] = isinstance(outcome, Allocation)
            self._current = None
            if self._left and budget.exhausted():
                return None
        return Feasibility(self._fits, self._errors)

    def _is_prepared(self, budget: Budget) -> bool:
        view = self._view
        TaintRules.of(view.table, self._tools.masks).settle()
        self._resolved = resolve(view.table, view.features, self._claims)
        return self._tools.prefilter.prepare(view, self._resolved, budget)

    def _survey(self) -> list[int]:
        """Return the indices of the nodes that counts do not decide, last first."""
        view, claims = self._view, self._resolved
        if not any(claim.requests for claim in claims):
            self._fits[:] = True
            return []
        ids = [view.table.node_id(one) if isinstance(one, str) else one for one in self._nodes]
        known = np.array([index for index, node_id in enumerate(ids) if node_id is not None], np.intp)
        for index, node_id in enumerate(ids):
            if node_id is None:
                name = self._name(index)
                self._errors[name] = AllocationError("node", "other", f"node {name} is not known")
        if not len(known):
            return []
        node_ids = np.array([node_id for node_id in ids if node_id is not None], np.intp)
        survey = self._tools.prefilter.survey(view, claims)
        decided = self._tools.prefilter.decided(view, claims, survey)
        self._fits[known] = survey.possible[node_ids]
        left: list[int] = known[~decided[node_ids]].tolist()
        return left[::-1]

    def _attempt(self, index: int) -> Attempt:
        node = self._nodes[index]
        nodes = [node] if isinstance(node, str) else np.array([node], np.int32)
        return Attempt(self._tools, self._view, Task(self._claims, nodes))

    def _name(self, index: int) -> str:
        node = self._nodes[index]
        return node if isinstance(node, str) else self._view.table.node_name(node)
