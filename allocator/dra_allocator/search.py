"""The exact search on one node: the first solution in the documented order, by depth-first search.

    stack:  Choice(request 0) Pick Pick ... Choice(request 1) Pick ...

A Choice goes through the alternatives of a request (one for a plain request), a Pick through the candidates of one
device of it. Within a request devices are picked in ascending order of position: combinations, not permutations.

Five things keep it from being exponential where the devices give no reason for it; none of them can skip a solution:

* Enough left: a Pick ends at once if fewer free candidates are left than are still wanted; after a failure below
  it, it also asks the rules (`prune`) for this request and each later one, and whether all can have devices at once.
* Interchangeable devices: a candidate like one that failed in the same Pick fails too. With c (earlier) and c'
  (later) alike, a solution with c' becomes one with c by swapping the two, because positions after c' come after c.
* Failed states: (place in the search, kinds of the devices taken, accounts of the rules) that failed once fail again.
* Counters: what is left of them has to be enough for this device, the next ones and later requests (`knapsack`).
* At most 32 devices in a claim: alternatives are left out that cannot keep to it whatever follows.

Rejected: recursion with generators (each resumption costs the depth), and a solver (no documented first solution).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from dra_allocator.budget import Budget
from dra_allocator.candidates import NO, OPEN, YES, Candidates, Need, least_after
from dra_allocator.matching import Demand, can_all_have
from dra_allocator.problem import NodeProblem
from dra_allocator.requests import MAX_DEVICES
from dra_allocator.result import Solution
from dra_allocator.rules.counters import Counters
from dra_allocator.rules.rule import Rule
from dra_allocator.rules.shares import Shares

_CHECK_EVERY = 16
_PATIENCE = 100
"""After so many steps counters are looked at more closely, at most `_EFFORT` branches each time: some milliseconds."""
_EFFORT = 16
_MAX_FAILED_STATES = 1 << 17


@dataclass(slots=True)
class _Choice:
    """Tries the alternatives of one request. `used` devices of its claim were picked before."""

    request: int
    used: int
    alternative: int = -1


@dataclass(slots=True)
class _Pick:
    """Tries the candidates for device number `number` of a request, from `index` on in `positions`."""

    request: int
    candidates: Candidates
    number: int
    positions: Sequence[int]
    index: int
    first: int
    failed_kinds: set[Hashable] = field(default_factory=set)
    taken: int = -1
    pruned: bool = False


class Search:
    """One search. `step` until it returns whether there is a solution, then read `solution`.

    Attributes:
        picks: the devices of the solution: candidates and position, in the order in which they were picked.
        steps: frames and candidates looked at so far.

    """

    def __init__(self, problem: NodeProblem, rules: Sequence[Rule]) -> None:
        self._problem = problem
        self._rules = tuple(rules)
        # With mode All capacity comes last, as in Kubernetes: a constraint may be an error before.
        self._rules_for_all = tuple(sorted(rules, key=lambda rule: isinstance(rule, Shares)))
        self._requests = tuple(request for claim in problem.claims for request in claim)
        self._counters = next((rule for rule in rules if isinstance(rule, Counters)), None)
        self._can_fail = any(rule.can_fail for rule in rules)
        self._least_after = least_after(self._requests)
        self._stack: list[_Choice | _Pick] = []
        self._holders: dict[int, list[Candidates]] = {}
        self._kinds: dict[int, Hashable] = {}
        self._failed: set[Hashable] = set()
        self._failing: dict[Candidates, dict[int, bool]] = {}
        self.picks: list[tuple[Candidates, int]] = []
        self.steps = 0
        self._evaluated = False
        self._begin(0)

    def step(self, budget: Budget) -> bool | None:
        """Go on until there is an answer or the budget is exhausted (None); may raise AttemptFailedError."""
        check_at = self.steps + _CHECK_EVERY
        while self._stack:
            self.steps += 1
            frame = self._stack[-1]
            done = self._choose(frame) if isinstance(frame, _Choice) else self._pick(frame)
            if done:
                return True
            if self._evaluated or self.steps >= check_at:
                self._evaluated = False
                if budget.exhausted():
                    return None
                check_at = self.steps + _CHECK_EVERY
        return len(self._requests) == 0

    def solution(self) -> Solution:
        """Return what was found, after `step` has returned True."""
        choices = [frame for frame in self._stack if isinstance(frame, _Choice)]
        return Solution([self._requests[frame.request][frame.alternative] for frame in choices], self.picks)

    # Frames.

    def _begin(self, request: int) -> bool:
        """Enter a request; return True if there is none left: the search is done."""
        if request == len(self._requests):
            return True
        claim = self._requests[request][0].claim
        used = sum(1 for candidates, _ in self.picks if candidates.claim == claim)
        self._stack.append(_Choice(request, used))
        return False

    def _choose(self, frame: _Choice) -> bool:
        alternatives = self._requests[frame.request]
        frame.alternative += 1
        if frame.alternative == len(alternatives):
            self._stack.pop()
            return False
        candidates = alternatives[frame.alternative]
        least = frame.used + candidates.wanted
        if not candidates.wanted or least > MAX_DEVICES:
            return False
        over = least + self._least_after[frame.request] > MAX_DEVICES
        if over and not self._may_fail(candidates, candidates.positions):
            return False
        self._descend(frame.request, candidates, 0, 0)
        return False

    def _descend(self, request: int, candidates: Candidates, number: int, index: int) -> None:
        """Push a Pick, unless it is known to fail."""
        positions = candidates.positions
        if not candidates.is_all and not self._enough(candidates, index, candidates.wanted - number):
            return
        first = positions[index] if index < len(positions) else len(self._problem)
        if (
            self._failed
            and not (candidates.is_all and number)  # there is no choice: the first one says it all
            and self._state(request, candidates, number, first) in self._failed
        ):
            return
        self._stack.append(_Pick(request, candidates, number, positions, index, first))

    def _pick(self, frame: _Pick) -> bool:
        if frame.taken >= 0:
            self._after_failure(frame)
        candidates = frame.candidates
        if candidates.is_all and frame.index > frame.number:
            return self._give_up(frame)
        while frame.index < len(frame.positions):
            position = frame.positions[frame.index]
            frame.index += 1
            self.steps += 1
            if self._take(frame, position):
                frame.taken = position
                return self._go_on(frame)
            if candidates.is_all:
                break
            if self._evaluated or self.steps % _CHECK_EVERY == 0:
                return False
        return self._give_up(frame)

    def _go_on(self, frame: _Pick) -> bool:
        number = frame.number + 1
        if number == frame.candidates.wanted:
            return self._begin(frame.request + 1)
        positions = frame.candidates.positions
        index = frame.index
        if frame.pruned:
            index = bisect_right(positions, frame.taken)
        self._descend(frame.request, frame.candidates, number, index)
        return False

    def _after_failure(self, frame: _Pick) -> None:
        """Undo the pick that failed; nothing like it will do; see what is left to try."""
        position, frame.taken = frame.taken, -1
        self._release(frame.candidates, position)
        if frame.candidates.is_all:
            return
        frame.failed_kinds.add(self._kind_now(position))
        if not frame.pruned:
            frame.pruned = True
            frame.positions = self._prune(frame)
            frame.index = 0

    def _give_up(self, frame: _Pick) -> bool:
        if not (frame.candidates.is_all and frame.number):
            if len(self._failed) >= _MAX_FAILED_STATES:
                self._failed.clear()
            self._failed.add(self._state(frame.request, frame.candidates, frame.number, frame.first))
        self._stack.pop()
        return False

    # Do and undo.

    def _take(self, frame: _Pick, position: int) -> bool:
        candidates = frame.candidates
        if not self._is_free(candidates, position):
            return False
        if frame.failed_kinds and self._kind_now(position) in frame.failed_kinds:
            return False
        if candidates.status[position] == OPEN:
            self._evaluated = True  # that may have taken long: the budget is asked next
            candidates.status[position] = YES if self._problem.resolve(candidates.request, position) else NO
        if candidates.status[position] == NO:
            return False
        rules = self._rules_for_all if candidates.is_all else self._rules
        for count, rule in enumerate(rules):
            if not rule.take(candidates, position):
                for done in reversed(rules[:count]):
                    done.release(candidates, position)
                return False
        self._holders.setdefault(position, []).append(candidates)
        self.picks.append((candidates, position))
        return True

    def _release(self, candidates: Candidates, position: int) -> None:
        self.picks.pop()
        holders = self._holders[position]
        holders.pop()
        if not holders:
            del self._holders[position]
        for rule in reversed(self._rules):
            rule.release(candidates, position)

    def _is_free(self, candidates: Candidates, position: int) -> bool:
        """Return whether the device is not in use, by others or by this choice.

        Admin access uses nobody's device up, but a claim gets a device once at most. Devices that can be shared are
        for the rules.
        """
        if candidates.is_all and not candidates.admin and self._problem.is_blocked(position):
            return False
        holders = self._holders.get(position)
        if not holders:
            return True
        if self._problem.is_shareable(position):
            return True
        return not any(holder.claim == candidates.claim or not (holder.admin or candidates.admin) for holder in holders)

    # Pruning.

    def _enough(self, candidates: Candidates, index: int, wanted: int) -> bool:
        """Return whether `wanted` free candidates are left; what may be an error has to be visited anyway."""
        positions = candidates.positions
        for at in range(index, len(positions)):
            position = positions[at]
            status = candidates.status[position]
            if status == OPEN:
                return True
            if status == YES and self._is_free(candidates, position):
                wanted -= 1
                if wanted <= 0:
                    return True
        return wanted <= 0 or self._may_fail(candidates, positions[index:])

    def _prune(self, frame: _Pick) -> Sequence[int]:
        candidates = frame.candidates
        rest = frame.positions[frame.index :]
        free = [position for position in rest if candidates.status[position] and self._is_free(candidates, position)]
        if self._may_fail(candidates, free):
            return free
        later = self._later_needs(frame.request)
        wanted = candidates.wanted - frame.number
        own = Need(candidates, free, wanted)
        if later is None or not self._can_go_on(own, later):
            return ()
        kept: Sequence[int] = free
        for rule in self._rules:
            kept = rule.prune(candidates, kept, wanted)
        if len(kept) < wanted:
            return ()
        if self._counters is not None:
            effort = _EFFORT if self.steps >= _PATIENCE else 0
            kept = self._counters.firsts(Need(candidates, kept, wanted), self._demands(later), effort)
            if effort and kept and not later:
                kept = self._exactly(frame, Need(candidates, kept, wanted), self._counters)
            self._evaluated = True  # the budget is asked next
        return kept

    def _exactly(self, frame: _Pick, need: Need, counters: Counters) -> Sequence[int]:
        candidates = need.candidates
        taken = [position for _, position in self.picks[len(self.picks) - frame.number :]]
        rows = [
            position
            for position in candidates.positions
            if position in taken or (candidates.status[position] and self._is_free(candidates, position))
        ]
        return counters.exact_firsts(need, taken, rows)

    def _can_go_on(self, own: Need, later: Sequence[Sequence[Need]]) -> bool:
        """Return whether this request, from these devices, and the later ones find enough, each and all together."""
        needs = [*([] if own.candidates.admin else [[own]]), *later]
        plain = [possible[0] for possible in needs if len(possible) == 1]
        return can_all_have(self._demands(needs)) and all(rule.suffices(plain) for rule in self._rules)

    def _later_needs(self, request: int) -> list[list[Need]] | None:
        """Return what may serve each request after this one; None: nothing serves one of them.

        A device that may be an error is to be reached: its request and what follows it do not count.
        """
        later: list[list[Need]] = []
        for alternatives in self._requests[request + 1 :]:
            if any(self._may_fail(one, one.positions) for one in alternatives):
                break
            possible = [need for one in alternatives if (need := self._need(one)) is not None]
            if not possible:
                return None
            if not any(one.admin for one in alternatives):
                later.append(possible)
        return later

    def _need(self, candidates: Candidates) -> Need | None:
        """Return what a later request needs, with the devices that are left to it; None: there are too few."""
        wanted = candidates.wanted
        kept: Sequence[int] = [
            one for one in candidates.positions if candidates.status[one] and self._is_free(candidates, one)
        ]
        for rule in self._rules:
            if not wanted or len(kept) < wanted:
                return None
            kept = rule.prune(candidates, kept, wanted)
        return Need(candidates, kept, wanted) if wanted and len(kept) >= wanted else None

    def _demands(self, needs: Sequence[Sequence[Need]]) -> list[Demand]:
        return [self._demand(possible) for possible in needs]

    def _demand(self, possible: Sequence[Need]) -> Demand:
        """Return the least that one of the alternatives takes of devices that cannot be shared."""
        positions = {position for need in possible for position in need.positions}
        return self._problem.demand(min(need.wanted for need in possible), positions)

    def _may_fail(self, candidates: Candidates, positions: Sequence[int]) -> bool:
        """Return whether looking at one of these free devices may end in an error, which has to be reached then."""
        if not self._can_fail and OPEN not in candidates.status:
            return False
        failing = self._failing.setdefault(candidates, {})
        for position in positions:
            status = candidates.status[position]
            if status == NO or failing.get(position) is False or not self._is_free(candidates, position):
                continue
            if status == OPEN:
                return True
            if position not in failing:
                failing[position] = any(rule.fails(candidates, position) for rule in self._rules)
            if failing[position]:
                return True
        return False

    # What makes devices and states alike.

    def _kind(self, position: int) -> Hashable:
        kind = self._kinds.get(position)
        if kind is None:
            kind = self._kinds[position] = self._kind_of(position)
        return kind

    def _kind_of(self, position: int) -> Hashable:
        statuses = tuple(one.status[position] for alternatives in self._requests for one in alternatives)
        if OPEN in statuses:
            return position
        problem = self._problem
        keys = tuple(rule.key(position) for rule in self._rules)
        return statuses, problem.held[position], problem.is_shareable(position), keys

    def _kind_now(self, position: int) -> Hashable:
        """Return the kind, or the device itself where this choice already uses it."""
        return ("used", position) if position in self._holders else self._kind(position)

    def _state(self, request: int, candidates: Candidates, number: int, first: int) -> Hashable:
        counted: dict[Hashable, int] = {}
        for position, holders in self._holders.items():
            kind = position if self._problem.is_shareable(position) else self._kind(position)
            for holder in holders:
                key = kind, position >= first, holder.claim, holder.admin
                counted[key] = counted.get(key, 0) + 1
        states = tuple(rule.state() for rule in self._rules)
        place = request, candidates.request.alternative, number, first
        used = sum(1 for one, _ in self.picks if one.claim == candidates.claim)
        return place, used, frozenset(counted.items()), states
