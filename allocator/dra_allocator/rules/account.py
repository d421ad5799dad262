"""All rules of one search, in the order in which they are asked, and what shared devices give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_allocator.candidates import Candidates
from dra_allocator.claim import Constraint
from dra_allocator.problem import NodeProblem
from dra_allocator.rejection import Reason
from dra_allocator.requests import ResolvedClaim, covers
from dra_allocator.rules.attributes import ConstrainedAttribute
from dra_allocator.rules.counters import Counters
from dra_allocator.rules.distinct import DistinctAttribute
from dra_allocator.rules.fitness import Fitness
from dra_allocator.rules.groups import CompatibilityGroups
from dra_allocator.rules.match import MatchAttribute
from dra_allocator.rules.rule import Rule
from dra_allocator.rules.shares import Shares
from dra_cel.quantity import Quantity


class Account:
    """The rules of one search on one node, only those that the node's devices and the claims give reason for.

    The order is Kubernetes': capacity, whose errors win over "does not fit"; what is fixed; counters; constraints.
    """

    def __init__(self, problem: NodeProblem, claims: Sequence[ResolvedClaim]) -> None:
        features, layout = problem.view.features, problem.layout
        self.rules: list[Rule] = []
        self._reasons: dict[int, tuple[Reason, str]] = {}
        self._shares: Shares | None = None
        asks = any(one.spec.capacity for claim in claims for request in claim.requests for one in request)
        if features.consumable_capacity and (asks or layout.has_shares):
            self._shares = Shares(problem)
            self._add(self._shares, "capacity")
        self._add(Fitness(problem), "node-features")
        if features.partitionable_devices and layout.has_counters:
            if features.compatibility_groups:
                self._add(CompatibilityGroups(problem), "compatibility-groups")
            self._add(Counters(problem), "counters")
        for number, claim in enumerate(claims):
            for constraint in claim.constraints:
                self._add(_constraint(problem, number, claim, constraint), "constraint", constraint.attribute)

    def _add(self, rule: Rule, reason: Reason, detail: str = "") -> None:
        self.rules.append(rule)
        self._reasons[id(rule)] = reason, detail

    def reason(self, rule: Rule) -> tuple[Reason, str]:
        """Return what a rejection calls a rule, and the detail that tells rules of a kind apart."""
        return self._reasons[id(rule)]

    def share(self, request: Candidates, position: int) -> Mapping[str, Quantity] | None:
        """Return what a pick consumes of a shared device, or None if the device is not shared."""
        return None if self._shares is None else self._shares.share(request, position)


def _constraint(problem: NodeProblem, number: int, claim: ResolvedClaim, constraint: Constraint) -> Rule:
    covered = [one for alternatives in claim.requests for one in alternatives if covers(constraint.requests, one)]
    attribute = ConstrainedAttribute(problem, constraint.attribute, covered)
    lists = problem.view.features.list_type_attributes
    if constraint.kind == "match":
        return MatchAttribute(problem, number, constraint, attribute, lists)
    return DistinctAttribute(number, constraint, attribute, lists)
