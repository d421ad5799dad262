"""Contract 2, stepping: one allocation attempt over many nodes, in slices that ask a budget; nothing holds the loop.

    resolve claims -> count over all nodes -> per node left, in order: problem -> search -> result

Only resolving the claims is done without asking the budget. Evaluating selectors may pause anywhere: the attempt runs
as work in slices (see `sliced`), and looks whether the table is as it was when it goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.budget import Budget, Either
from dra_allocator.claim import ResourceClaim
from dra_allocator.device import DeviceID
from dra_allocator.errors import AttemptFailedError, StaleRowsError
from dra_allocator.explain import Explainer
from dra_allocator.masks import MaskStore
from dra_allocator.outcome import (
    INVALID_POOLS,
    Allocation,
    AllocationError,
    AllocationResult,
    ClaimAllocation,
    Outcome,
    OutOfBudget,
)
from dra_allocator.prefilter import Prefilter
from dra_allocator.problem import NodeProblem
from dra_allocator.ranks import NodeLayout
from dra_allocator.rejection import Rejection
from dra_allocator.requests import ResolvedClaim, resolve
from dra_allocator.result import build
from dra_allocator.rules.account import Account
from dra_allocator.search import Search
from dra_allocator.taint_rules import TaintRules
from dra_allocator.view import View

CandidateOrder = Callable[[str, Sequence[DeviceID]], Sequence[int]]
"""Node and its devices in documented order in, the order in which to try them out (as indices)."""

_FEW_NODES = 8
"""Up to this many nodes counting over the whole table costs more than it saves."""
_FIRST, _LINED_UP = 16, 64
"""So many nodes are looked at one by one, which is fastest where many may do, then so many at a time."""
_MAX_RESTARTS = 16
_NO_NODES: IntArray = np.empty(0, np.int32)
_FAILING_SEARCHED = 8
"""So many of the nodes that cannot hold the claims and on which a selector fails are searched, to tell the error."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What an attempt uses of its Allocator: caches, and the source of UUIDs for shares."""

    masks: MaskStore
    prefilter: Prefilter
    share_ids: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of an attempt; see `Allocator.allocate`."""

    claims: Sequence[ResourceClaim]
    nodes: Sequence[str] | IntArray
    candidates: CandidateOrder | None = None
    limit: Budget | None = None


class _NodeSearch:
    """The search on one node, made anew if the table changes under it."""

    def __init__(self, tools: Tools, view: View, claims: Sequence[ResolvedClaim], layout: NodeLayout) -> None:
        # Making the problem may have rests: what it reads is stamped before.
        self._stamp = view.stamp(layout, {one.device_class.name for c in claims for r in c.requests for one in r})
        self.problem = NodeProblem(view, tools.masks, layout, claims, self._stamp)
        self.account = Account(self.problem, claims)
        self.search = Search(self.problem, self.account.rules)
        self._claims = claims
        self._share_ids = tools.share_ids

    def allocation(self, errors: Mapping[str, AllocationError]) -> Allocation:
        """Return the solution found."""
        claims = build(self.problem, self._claims, self.search.solution(), self.account.share, self._share_ids)
        return Allocation(self.problem.layout.node, claims, self._stamp, errors)


class Attempt:
    """Looks for the first of the given nodes that can hold all claims. Call `step` until it returns an outcome."""

    def __init__(self, tools: Tools, view: View, task: Task) -> None:
        self._tools = tools
        self._view = view
        self._task = task
        self._claims: tuple[ResolvedClaim, ...] = ()
        self._queue: Iterator[int] | None = None
        self._current: _NodeSearch | None = None
        self._arrivals = view.table.nodes.arrivals
        self._node_id = -1
        self._node = ""
        self._restarts = 0
        self._tried = 0
        self._rejected = 0
        self._failing: IntArray = _NO_NODES
        self._errors: dict[str, AllocationError] = {}
        self._outcome: Outcome | None = None

    @property
    def is_pod_error(self) -> bool:
        """Whether the outcome is an error that no other node could have escaped."""
        return isinstance(self._outcome, AllocationError) and not self._errors

    def expired(self) -> OutOfBudget:
        """Return the outcome of an attempt that ends where it is."""
        return OutOfBudget(self._tried, len(self._task.nodes))

    def step(self, budget: Budget) -> Outcome | None:
        """Work until there is an outcome (then and ever after it is returned) or the budget is exhausted (None)."""
        limit = self._task.limit
        within = budget if limit is None else Either(budget, limit)
        while self._outcome is None:
            try:
                self._outcome = self._advance(within)
            except AttemptFailedError as failure:
                if failure.error.scope == "pod":
                    self._outcome = replace(failure.error, explain=self._explainer())
                else:
                    self._node_failed(self._node, failure.error)
            except StaleRowsError:
                self._restart()
            if self._outcome is None and limit is not None and limit.exhausted():
                self._outcome = self.expired()
            if self._outcome is None and budget.exhausted():
                return None
        return self._outcome

    def _advance(self, budget: Budget) -> Outcome | None:
        """Do the next piece of work."""
        if self._queue is None:
            return self._start(budget)
        if self._current is None:
            node_id = next(self._queue, None)
            if node_id is None:
                return self._nothing_found()
            self._current = self._open(node_id)
            if self._current is None:
                return None
        found = self._current.search.step(budget)
        if found is None:
            return None
        self._tried += 1
        if found:
            return self._current.allocation(dict(self._errors))
        self._search_failed(self._current.problem.layout)
        return None

    def _start(self, budget: Budget) -> Outcome | None:
        """Resolve the claims, bring what selectors say up to date, and line up the nodes that may do."""
        view = self._view
        TaintRules.of(view.table, self._tools.masks).settle()
        if not self._claims:
            self._claims = resolve(view.table, view.features, self._task.claims)
        if not any(claim.requests for claim in self._claims):
            return self._nothing_wanted()
        ids = self._node_ids()
        if len(ids) > _FEW_NODES:
            if not self._tools.prefilter.prepare(view, self._claims, budget):
                return None
            self._queue = self._line_up(ids)
        else:
            self._queue = map(int, ids)
        return None

    def _line_up(self, ids: IntArray) -> Iterator[int]:
        """Return the nodes that counting leaves, in order.

        A few of those on which a selector fails follow at the end, so that their errors can be told; for the others
        `_report_failing` says the same. None of them can hold the claims.
        """
        survey = self._tools.prefilter.survey(self._view, self._claims)
        possible = survey.possible
        all_of_them = len(ids) == len(possible)  # then their order does not matter
        ruled_out = len(ids) - int(np.count_nonzero(possible if all_of_them else possible[ids]))
        queue = _masked(ids, possible)
        if survey.failing is not None:
            failing = ids[survey.failing[ids] & ~possible[ids]]
            self._failing, failing = failing[_FAILING_SEARCHED:], failing[:_FAILING_SEARCHED]
            ruled_out -= len(failing)
            queue = itertools.chain(queue, map(int, failing))
        self._tried += ruled_out
        self._rejected += ruled_out - len(self._failing)
        return queue

    def _report_failing(self) -> None:
        """Note an error for the nodes on which a selector fails as it did on those that were searched."""
        example = next((name for name, error in self._errors.items() if error.kind == "selector-runtime"), None)
        if example is None:
            self._rejected += len(self._failing)
            return
        error = self._errors[example]
        cause = f"a selector fails on a device, as on node {example}: {error.cause}"
        same = replace(error, cause=cause, device=None)
        for node_id in self._failing.tolist():
            node = self._view.table.nodes.since(node_id, self._arrivals)
            if node is not None:
                self._errors[node.name] = same

    def _nothing_wanted(self) -> Outcome:
        ids = self._node_ids().tolist()
        if not ids:
            return self._nothing_found()
        allocations = tuple(ClaimAllocation(claim.uid, AllocationResult(())) for claim in self._task.claims)
        return Allocation(self._view.table.node_name(ids[0]), allocations, self._view.stamp_of_node(ids[0]))

    def _node_ids(self) -> IntArray:
        """Return the ids of the nodes; a name that is not known is an error of that node."""
        if isinstance(self._task.nodes, np.ndarray):
            return self._task.nodes
        ids = []
        for name in self._task.nodes:
            node_id = self._view.table.node_id(name)
            if node_id is None:
                self._errors[name] = AllocationError("node", "other", f"node {name} is not known")
            else:
                ids.append(node_id)
        return np.array(ids, np.int32)

    def _open(self, node_id: int) -> _NodeSearch | None:
        """Begin to search a node; return None if it has gone since the nodes were lined up."""
        node = self._view.table.nodes.since(node_id, self._arrivals)
        if node is None:
            self._rejected += 1
            return None
        self._node_id, self._node = node_id, node.name
        layout = self._view.layout(node_id)
        if self._task.candidates is not None:
            rows = self._view.table.rows
            devices = [rows.device_id(row) for row in layout.rows.tolist()]
            layout = layout.reordered(self._task.candidates(layout.node, devices))
        return _NodeSearch(self._tools, self._view, self._claims, layout)

    def _restart(self) -> None:
        """Look at the current node anew; a table that never rests is an error of the node in the end."""
        self._current = None
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            self._node_failed(self._node, AllocationError("node", "other", "its devices keep changing"))
        elif self._queue is not None:
            self._queue = itertools.chain((self._node_id,), self._queue)

    def _search_failed(self, layout: NodeLayout) -> None:
        invalid = layout.invalid_pools()
        if invalid:
            pools = "; ".join(f"{pool.record.id}: {pool.reason}" for pool in invalid)
            cause = f"{INVALID_POOLS}: {pools}"
            self._node_failed(layout.node, AllocationError("node", "invalid-pool", cause))
        else:
            self._rejected += 1
            self._leave()

    def _node_failed(self, name: str, error: AllocationError) -> None:
        self._errors[name] = error
        self._leave()

    def _leave(self) -> None:
        self._current = None
        self._restarts = 0

    def _nothing_found(self) -> Outcome:
        """Return the rejection, or the error that no node escapes: it is the pod's then.

        Invalid pools stay errors of the nodes, as in Kubernetes: nothing is wrong with the pod.
        """
        if len(self._failing):
            self._report_failing()
        explain = self._explainer()
        if self._errors and not self._rejected:
            worst = min(self._errors.values(), key=lambda error: error.is_unschedulable)
            return replace(worst, scope=worst.scope if worst.is_unschedulable else "pod", explain=explain)
        texts = {number: str(error) for number, error in {id(one): one for one in self._errors.values()}.items()}
        return Rejection(
            nodes=len(self._task.nodes),
            explain=explain,
            node_errors={name: texts[id(error)] for name, error in self._errors.items()},
        )

    def _explainer(self) -> Explainer:
        tools, task = self._tools, self._task
        return Explainer(self._view, tools.masks, tools.prefilter, task.claims, task.nodes)


def _masked(ids: IntArray, mask: BoolArray) -> Iterator[int]:
    """Yield the ids whose place in the mask is set; mostly only the first is asked for."""
    for node_id in ids[:_FIRST].tolist():
        if mask[node_id]:
            yield node_id
    for start in range(_FIRST, len(ids), _LINED_UP):
        some = ids[start : start + _LINED_UP]
        yield from some[mask[some]].tolist()
