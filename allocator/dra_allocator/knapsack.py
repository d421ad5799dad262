"""Whether devices can be picked together under several counters: a knapsack with many dimensions.

However one weighs the counters against each other, the lightest devices that are enough must not weigh more than what
is left. With one counter that is the exact answer; with several it is that of the linear relaxation, once the weights
are found that speak most against it. They are looked for by weighing more what the lightest devices exceed. What the
relaxation leaves open is decided by branch and bound, or by all sums that there are, both within limits: the problem
is NP-hard.

Amounts are floats: a sum must be above what is left by more than `_MARGIN`, far more than rounding can do, to count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappush, heappushpop

import numpy as np

from dra_allocator.arrays import IntArray
from dra_allocator.lightest import FREE, IN, OUT, Fixed, Floats, Lightest
from dra_allocator.matching import Demand
from dra_allocator.reachable import Reachable
from dra_cel.slices import rest

_MARGIN = 1 + 1e-9
_FIRST_ROUNDS = 12
_ROUNDS = 6
"""Attempts to find better weights; the second where there are good ones already, of a problem nearly the same."""
_STRICTEST = 4
"""So many counters are looked at closely: those of which the lightest devices take the largest part."""


class Knapsack:
    """Demands for rows of a matrix of amounts (rows x counters), no row given twice, and what is left per counter.

    The first demand is met in order of its rows; the amounts are not negative, nor is what is left.
    """

    def __init__(self, amounts: Floats, left: Floats, demands: Sequence[Demand]) -> None:
        rows = sorted({row for _, some in demands for row in some})
        places = {row: at for at, row in enumerate(rows)}
        local = [(wanted, [places[row] for row in some]) for wanted, some in demands]
        involved = amounts[rows]
        tight = np.flatnonzero(involved.sum(axis=0) > left * _MARGIN)
        self._tight, self._counters = tight, amounts.shape[1]
        self._amounts = involved[:, tight]
        self._left = left[tight]
        self._scale = np.maximum(self._left, 1.0)
        self._wanted, self._own = local[0]
        self._total = sum(wanted for wanted, _ in local)
        self._later = Lightest(local[1:]) if len(local) > 1 else None
        self._all = Lightest(local)

    def firsts(self, effort: int) -> list[bool]:
        """Return per row of the first demand whether it may be the first of it, its others coming after it.

        `effort`: so many branches may be looked at, beyond the relaxation.
        """
        possible = [True] * len(self._own)
        used = [self._used(weights) for weights in np.eye(len(self._left))]
        if max(used, default=0.0) > 1:
            return [False] * len(self._own)
        for counter in sorted(range(len(used)), key=used.__getitem__)[-_STRICTEST:]:
            self._strike_out(possible, np.eye(len(used))[counter])
        if len(self._left) > 1:
            bound = _Bound(1 / self._scale)
            if not self._tighten(bound, None, _FIRST_ROUNDS):
                return [False] * len(self._own)
            self._strike_out(possible, bound.weights)
            if effort and not bound.fits and not self._branch(bound, effort):
                return [False] * len(self._own)
        return possible

    def strictest(self) -> Floats:
        """Return ways to weigh all the counters, one per column: each alone, and the strictest ones."""
        bound = _Bound(1 / self._scale)
        self._tighten(bound, None, _FIRST_ROUNDS)
        weights = np.zeros(self._counters)
        weights[self._tight] = bound.weights
        return np.column_stack([np.eye(self._counters), weights])

    def _used(self, weights: Floats) -> float:
        """Return which part of what is left the lightest take; above 1: nothing is possible."""
        heavy = self._amounts @ weights
        chosen = self._all.rows(heavy, None)
        if chosen is None:
            return math.inf
        total, room = float(heavy[chosen].sum()), self._room(weights)
        return math.inf if total > room else total / max(room, 1.0)

    def _room(self, weights: Floats) -> float:
        return float(self._left @ weights) * _MARGIN

    def _branch(self, bound: _Bound, effort: int) -> bool:
        """Return whether there may be a solution: whether one has been found, or effort was not enough to know."""
        stack = [(np.zeros(len(self._amounts), np.int8), bound.weights)]
        while stack:
            if not effort:
                return self._adds_up(bound.weights)
            effort -= 1
            rest()
            fixed, weights = stack.pop()
            bound = _Bound(weights)
            if not self._tighten(bound, fixed, _ROUNDS):
                continue
            if bound.fits:
                return True
            fixed = self._fix(bound, fixed)
            heavy = self._amounts @ bound.weights
            undecided = bound.chosen[fixed[bound.chosen] == FREE]
            if len(undecided):
                at = undecided[heavy[undecided].argmax()]
                for way in (IN, OUT):
                    other = fixed.copy()
                    other[at] = way
                    stack.append((other, bound.weights))
        return False

    def _adds_up(self, weights: Floats) -> bool:
        """Return whether so many rows may fit, whichever demand they are for."""
        ways = np.column_stack([np.eye(len(self._left)), weights])
        reachable = Reachable(self._amounts, self._left, self._total, ways)
        return not reachable.is_complete or reachable.is_possible

    def _fix(self, bound: _Bound, fixed: Fixed) -> Fixed:
        """Return with more rows in or out: those whose exchange for another makes the lightest too heavy."""
        heavy = self._amounts @ bound.weights
        spare = self._room(bound.weights) - float(heavy[bound.chosen].sum()) / _MARGIN
        chosen = np.zeros(len(fixed), np.bool_)
        chosen[bound.chosen] = True
        free = fixed == FREE
        inside, outside = free & chosen, free & ~chosen
        fixed = fixed.copy()
        if inside.any():
            fixed[outside & (heavy - heavy[inside].max() > spare)] = OUT
        if outside.any():
            fixed[inside & (heavy[outside].min() - heavy > spare)] = IN
        return fixed

    def _tighten(self, bound: _Bound, fixed: Fixed | None, rounds: int) -> bool:
        """Look for the weights under which the lightest take the most of what is left; False: more than that."""
        weights, most = bound.weights, -1.0
        for _ in range(rounds):
            heavy = self._amounts @ weights
            chosen = self._all.rows(heavy, fixed)
            if chosen is None:
                return False
            total, room = float(heavy[chosen].sum()), self._room(weights)
            if total > room:
                return False
            used = total / room if room else 0.0
            excess = self._amounts[chosen].sum(axis=0) / self._scale - self._left / self._scale
            bound.fits = bool(excess.max(initial=-1.0) <= _MARGIN - 1)  # no counter that could be short: all fits
            if used > most or bound.fits:
                bound.weights, bound.chosen, most = weights, chosen, used
            if bound.fits:
                return True
            weights = weights * (1 + np.clip(excess, -0.5, 1.0))
        return True

    def _strike_out(self, possible: list[bool], weights: Floats) -> None:
        """Rule out the rows after which the lightest that are enough are too heavy."""
        heavy = self._amounts @ weights
        room = self._room(weights)
        if self._later is not None:
            chosen = self._later.rows(heavy, None)
            room -= 0.0 if chosen is None else float(heavy[chosen].sum()) / _MARGIN
        own = heavy[self._own].tolist()
        largest: list[float] = []  # a heap of the lightest `wanted - 1` seen so far, negative
        for at in range(len(own) - 1, -1, -1):
            if len(largest) < self._wanted - 1:
                possible[at] = False
                heappush(largest, -own[at])
                continue
            if own[at] - sum(largest) > room:  # summed anew: no differences, so rounding stays small
                possible[at] = False
            if largest:
                heappushpop(largest, -own[at])


class _Bound:
    """Weights, the lightest rows under them, and whether these fit: then they are a solution."""

    __slots__ = ("chosen", "fits", "weights")

    def __init__(self, weights: Floats) -> None:
        self.weights = weights
        self.chosen: IntArray = np.empty(0, np.int32)
        self.fits = False
