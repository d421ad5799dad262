"""From the nodes that the filters left to the one that the pod goes to.

    walk: next node that holds the claims --> fits with what its devices take? --no--> next, counted under its reason
                                                   | yes
              no prioritized list, or nothing better can come --> this one
                                                   | else: remember, next; in the end the best of those compared

The order of the walk is by free cpu and memory, so the first node is the best unless claims have prioritized lists.
Then one that has the most points that any node can have is not beaten by those after it, which have no more room. If
the first node is no such node, counting devices tells where one may be (`Promising`); it is looked for there, and only
nodes with so much more room that it makes up for worse alternatives are compared with it. Where none is found, as many
nodes are compared as kube-scheduler would compare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dra_allocator.claim import ResourceClaim
from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.filters.resources import lacking_on
from dra_scheduler.cycle.node_resources import GATE, Statuses, Used, statuses, takes_any
from dra_scheduler.cycle.pod_claims import PodClaims
from dra_scheduler.cycle.pod_level import pod_level_problem
from dra_scheduler.cycle.preference import MAX_SCORE, WEIGHT, most_points, normalized, to_compare, total_points
from dra_scheduler.cycle.score import scores
from dra_scheduler.cycle.walk import Found, Walk

NOT_FOR_EXTENDED = "devices that take resources of their node cannot serve extended resources"


@dataclass(frozen=True, slots=True)
class Promising:
    """Where the open lists may get `points`, which no node exceeds: a walk over these nodes only."""

    points: int
    walk: Walk


FindPromising = Callable[[], Promising | None]
"""Asked at most once; None: counting does not tell."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The node, and what is to be written into the pod's status about its devices."""

    found: Found
    node_resources: Statuses = ()


@dataclass(slots=True)
class Refusals:
    """Nodes (rows) that hold the claims and are out all the same, with the reasons."""

    counts: Counter[str] = field(default_factory=Counter)
    resolvable: list[int] = field(default_factory=list)
    rows: int = 0


class NodeResourcesCheck:
    """Whether pod and devices fit on a node together."""

    def __init__(self, pod: PodInfo, claims: PodClaims, cluster: Cluster) -> None:
        self._pod = pod
        self._claims = claims
        self._cluster = cluster
        self.refusals = Refusals()

    def taken(self, found: Found) -> Statuses:
        """Return what the devices take of the node. Raises NodeResourcesError."""
        return statuses(self._pod.raw["spec"], self._used(found), self._cluster.devices)

    def problems(self, found: Found, taken: Statuses) -> tuple[list[str], bool]:
        """Return why pod and devices do not fit on the node together, and whether fewer other pods would help."""
        problem = self._special_problem(found) or pod_level_problem(self._pod.raw["spec"], taken)
        if problem:
            return [problem], False
        return lacking_on(self._pod, taken, self._cluster.nodes, found.row)

    def refuses(self, found: Found, taken: Statuses) -> bool:
        """Whether the node is out, and if so count it."""
        reasons, resolvable = self.problems(found, taken)
        if not reasons:
            return False
        self.refusals.counts.update(reasons)
        self.refusals.rows += 1
        if resolvable:
            self.refusals.resolvable.append(found.row)
        return True

    def _special_problem(self, found: Found) -> str:
        """The pod's status cannot say what devices of a special claim take: its API has no entry for such a claim."""
        if found.special is None:
            return ""
        result = found.results[found.special.spec.uid]
        return NOT_FOR_EXTENDED if takes_any(self._cluster.devices, result) else ""

    def _used(self, found: Found) -> list[Used]:
        results: Mapping[str, AllocationResult] = found.results
        used = []
        for claim in (*self._claims.unallocated, *self._claims.allocated):
            result = claim.effective or results.get(claim.uid)
            entries = frozenset(entry.name for entry in self._pod.claims if entry.claim_name == claim.name)
            if result is not None:
                used.append(Used(claim.namespace, claim.name, entries, result))
        return used


def needs_check(claims: PodClaims, cluster: Cluster, extended: bool) -> bool:
    """Whether devices may take something of their node."""
    return cluster.gates.enabled(GATE) and bool(claims.unallocated or claims.allocated or extended)


class Chooser:
    """Chooses for one pod. `check` None: devices take nothing of their nodes."""

    def __init__(
        self,
        pod: PodInfo,
        claims: PodClaims,
        cluster: Cluster,
        check: NodeResourcesCheck | None,
        promising: FindPromising,
    ) -> None:
        self._pod = pod
        self._cluster = cluster
        self._check = check
        self._promising = promising
        self._compared: list[_Candidate] = []
        self._seen: set[int] = set()
        self._weighs = False
        self._lists: list[tuple[ResourceClaim, AllocationResult | None]] = [
            (claim.spec, claim.effective)
            for claim in (*claims.unallocated, *claims.allocated)
            if claim.spec is not None
        ]

    async def choose(self, walk: Walk) -> Choice | None:
        """Return the best node, None if there is none. Raises NodeResourcesError."""
        most = most_points(claim for claim, allocated in self._lists if allocated is None)
        self._weighs = most > 0
        first = await self._next(walk)
        if first is None or not most:
            return None if first is None else first.choice
        wanted = to_compare(len(self._cluster.nodes))
        ceiling = most + total_points([(claim, allocated) for claim, allocated in self._lists if allocated], {})
        if first.points < ceiling:
            ceiling = await self._look_where_promising(ceiling, ceiling - most, wanted)
        last: _Candidate | None = first
        while last is not None and len(self._compared) < wanted and self._may_be_beaten(last, ceiling):
            last = await self._next(walk)
        return self._best()

    async def _look_where_promising(self, ceiling: int, fixed: int, wanted: int) -> int:
        """Find a node with as many points as any can have; return how many that is, as far as it is known."""
        promising = self._promising()
        if promising is None:
            return ceiling
        ceiling = min(ceiling, promising.points + fixed)
        while not any(one.points >= ceiling for one in self._compared) and len(self._compared) < wanted:
            if await self._next(promising.walk) is None:
                # No other node could have had them.
                return ceiling - 1
        return ceiling

    async def _next(self, walk: Walk) -> _Candidate | None:
        """Return the next node that passes the check."""
        while True:
            found = await walk.next()
            if found is None:
                return None
            if found.row in self._seen:
                continue
            self._seen.add(found.row)
            taken: Statuses = ()
            if self._check is not None:
                taken = self._check.taken(found)
                if self._check.refuses(found, taken):
                    walk.drop()
                    continue
            candidate = self._candidate(Choice(found, taken))
            self._compared.append(candidate)
            return candidate

    def _candidate(self, choice: Choice) -> _Candidate:
        if not self._weighs:
            return _Candidate(choice)
        room = int(scores(self._pod, self._cluster.nodes, np.array([choice.found.row]))[0])
        return _Candidate(choice, total_points(self._lists, choice.found.results), room)

    def _may_be_beaten(self, last: _Candidate, ceiling: int) -> bool:
        """Whether a node after `last` can be better than the best so far: it has no more room, and fewer points."""
        best = [one for one in self._compared if one.points >= ceiling]
        if not best:
            return True
        below = last.room + WEIGHT * (MAX_SCORE * (ceiling - 1) // ceiling)
        return below > max(one.room for one in best) + WEIGHT * MAX_SCORE

    def _best(self) -> Choice:
        points = normalized([one.points for one in self._compared])
        totals = [one.room + WEIGHT * score for one, score in zip(self._compared, points, strict=True)]
        return self._compared[totals.index(max(totals))].choice


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A node with its points for prioritized lists and its score for room; both zero where nothing is weighed."""

    choice: Choice
    points: int = 0
    room: int = 0
