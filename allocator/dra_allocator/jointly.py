"""Nodes on which each request alone has enough devices, and the claims still do not fit: which rule is in the way.

The search is tried again without one rule at a time, and the first whose absence helps is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dra_allocator.errors import AttemptFailedError, StaleRowsError
from dra_allocator.facts import Fact
from dra_allocator.masks import MaskStore
from dra_allocator.problem import NodeProblem
from dra_allocator.rejection import Together
from dra_allocator.requests import ResolvedClaim, covers, display_name
from dra_allocator.rules.account import Account
from dra_allocator.search import Search
from dra_allocator.shortage import capacity, counters, groups, scarcity
from dra_allocator.view import View

_STEPS = 128
"""Questions that one search may ask its budget: 2,000 steps, some milliseconds at most."""


class Jointly:
    """Searches some nodes.

    Attributes:
        found: a reason per rule that is in the way, most nodes first.
        fits_on: a node where the claims fit after all, because something changed since; "" if there is none.

    """

    def __init__(self, view: View, masks: MaskStore, claims: Sequence[ResolvedClaim], nodes: Sequence[int]) -> None:
        self._view = view
        self._masks = masks
        self._claims = claims
        self.fits_on = ""
        found: dict[tuple[str, str, str], Together] = {}
        for node_id in nodes:
            one = self._look(node_id)
            if self.fits_on:
                break
            if one is not None:
                key = one.reason, one.claim, one.detail
                known = found.get(key)
                found[key] = one if known is None else replace(known, nodes=known.nodes + 1)
        ordered = sorted(found.values(), key=lambda each: -each.nodes)
        self.found = tuple(replace(each, looked_at=len(nodes)) for each in ordered)

    def _look(self, node_id: int) -> Together | None:
        """Return what is in the way on a node; None: the search for it takes too long, or an error ends it."""
        try:
            problem = NodeProblem(self._view, self._masks, self._view.layout(node_id), self._claims)
            account = Account(problem, self._claims)
            if Search(problem, account.rules).step(_Steps()):
                self.fits_on = problem.layout.node
                return None
            for number, rule in enumerate(account.rules):
                others = [*account.rules[:number], *account.rules[number + 1 :]]
                if Search(problem, others).step(_Steps()):
                    reason, detail = account.reason(rule)
                    return self._told(problem, Together(reason, 1, 0, node=problem.layout.node, detail=detail))
            facts = (scarcity(one for claim in problem.claims for one in claim),)
            return Together("too-few", 1, 0, node=problem.layout.node, requests=self._names(), facts=facts)
        except (AttemptFailedError, StaleRowsError):
            return None

    def _told(self, problem: NodeProblem, one: Together) -> Together:
        """Add whom the rule concerns, and what it lacks."""
        requests = [alternatives for claim in problem.claims for alternatives in claim]
        if one.reason == "constraint":
            return self._constraint(problem, one)
        facts: tuple[Fact, ...] = ()
        if one.reason == "counters":
            facts = tuple(counters(problem, requests))
        elif one.reason == "capacity":
            facts = tuple(capacity(problem, requests))
        return replace(one, requests=self._names(), facts=facts)

    def _constraint(self, problem: NodeProblem, one: Together) -> Together:
        for number, claim in enumerate(self._claims):
            for constraint in claim.constraints:
                if constraint.attribute == one.detail:
                    covered = [each for some in claim.requests for each in some if covers(constraint.requests, each)]
                    fact = groups(problem, claim, constraint, problem.claims[number])
                    return replace(
                        one,
                        claim=display_name(claim.claim),
                        requests=tuple(each.name for each in covered),
                        facts=() if fact is None else (fact,),
                    )
        return one

    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for claim in self._claims for alternatives in claim.requests for one in alternatives)


class _Steps:
    """A budget of so many questions."""

    def __init__(self) -> None:
        self._left = _STEPS

    def exhausted(self) -> bool:
        self._left -= 1
        return self._left < 0
