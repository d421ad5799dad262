"""Nodes on which each request alone has enough devices, and the claims still do not fit: which rule is in the way.

The search is tried again without one rule at a time, and the first whose absence helps is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dra_allocator.effort import Effort
from dra_allocator.errors import AllocatorError, AttemptFailedError, StaleRowsError
from dra_allocator.facts import Fact
from dra_allocator.masks import MaskStore
from dra_allocator.problem import NodeProblem
from dra_allocator.rejection import Reason, Together
from dra_allocator.requests import ResolvedClaim, covers, display_name
from dra_allocator.rules.account import Account
from dra_allocator.rules.rule import Rule
from dra_allocator.search import Search
from dra_allocator.shortage import capacity, counters, groups, scarcity
from dra_allocator.view import View


class _TooMuchEffortError(AllocatorError):
    """A search has taken all the effort that an explanation may; caught here."""


class Jointly:
    """Searches some nodes.

    Attributes:
        found: a reason per rule that is in the way, most nodes first.
        fits_on: a node where the claims fit after all, because something changed since; "" if there is none.

    """

    def __init__(
        self, view: View, masks: MaskStore, claims: Sequence[ResolvedClaim], nodes: Sequence[int], effort: Effort
    ) -> None:
        self._view = view
        self._masks = masks
        self._claims = claims
        self._effort = effort
        self.fits_on = ""
        self._nodes = nodes
        self._found: dict[tuple[str, str, str], Together] = {}
        self.found: tuple[Together, ...] = ()

    def run(self) -> Iterator[None]:
        """Search the nodes; yields between two of them."""
        looked_at = 0
        for node_id in self._nodes:
            if self.fits_on or not self._look(node_id):
                break
            looked_at += 1
            yield
        ordered = sorted(self._found.values(), key=lambda each: -each.nodes)
        self.found = tuple(replace(each, looked_at=looked_at) for each in ordered)

    def _look(self, node_id: int) -> bool:
        """Note what is in the way on a node; return False if the effort does not suffice to find out."""
        try:
            problem = NodeProblem(self._view, self._masks, self._view.layout(node_id), self._claims)
            one = self._reason(problem)
        except _TooMuchEffortError:
            return False
        except (AttemptFailedError, StaleRowsError):
            return True
        if one is not None:
            key = one.reason, one.claim, one.detail
            known = self._found.get(key)
            self._found[key] = one if known is None else replace(known, nodes=known.nodes + 1)
        return True

    def _reason(self, problem: NodeProblem) -> Together | None:
        """Return what is in the way; None: nothing."""
        account = Account(problem, self._claims)
        if self._is_solved(problem, account.rules):
            self.fits_on = problem.layout.node
            return None
        for number, rule in enumerate(account.rules):
            others = [*account.rules[:number], *account.rules[number + 1 :]]
            if self._is_solved(problem, others):
                reason, detail = account.reason(rule)
                return self._told(problem, Together(reason, 1, 0, node=problem.layout.node, detail=detail))
        reason, detail, facts = self._without_rules(problem, account)
        return Together(reason, 1, 0, node=problem.layout.node, detail=detail, requests=self._names(), facts=facts)

    def _without_rules(self, problem: NodeProblem, account: Account) -> tuple[Reason, str, tuple[Fact, ...]]:
        """Say why leaving out one rule does not help: too few devices for all requests, or several rules in the way.

        Named are those that are in the way each by itself, else some that are together.
        """
        if not self._is_solved(problem, ()):
            return "too-few", "", (scarcity(one for claim in problem.claims for one in claim),)
        needed = [rule for rule in account.rules if not self._is_solved(problem, (rule,))]
        if not needed:
            needed = self._least(problem, account.rules)
        names = (" on ".join(filter(None, account.reason(rule))) for rule in needed)
        return "several-rules", ", ".join(dict.fromkeys(names)), ()

    def _least(self, problem: NodeProblem, rules: Sequence[Rule]) -> list[Rule]:
        """Return rules that leave no choice, and would if one of them were not there."""
        needed = list(rules)
        for rule in rules:
            others = [other for other in needed if other is not rule]
            if not self._is_solved(problem, others):
                needed = others
        return needed

    def _is_solved(self, problem: NodeProblem, rules: Sequence[Rule]) -> bool:
        solved = Search(problem, rules).step(self._effort)
        if solved is None:
            raise _TooMuchEffortError
        return solved

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
                    fact = groups(problem, claim, constraint, problem.claims[number], self._effort)
                    return replace(
                        one,
                        claim=display_name(claim.claim),
                        requests=tuple(each.name for each in covered),
                        facts=() if fact is None else (fact,),
                    )
        return one

    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for claim in self._claims for alternatives in claim.requests for one in alternatives)
