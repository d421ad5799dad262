"""What a rule lacks on one node: the largest groups of constraints, what is left of counters and capacities."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dra_allocator.arrays import IntArray
from dra_allocator.candidates import Candidates
from dra_allocator.claim import Constraint
from dra_allocator.effort import Effort
from dra_allocator.facts import Fact, Groups, Scarcity, Shortage, amount_text
from dra_allocator.pools import PoolOnNode, counter_sets
from dra_allocator.problem import NodeProblem
from dra_allocator.published import Published, value_text
from dra_allocator.requests import ResolvedClaim, covers
from dra_allocator.rules.counters import Counter, consumed_counters
from dra_allocator.rules.pool_use import held_consumption
from dra_cel.columns import ColumnKey

Alternatives = Iterable[Sequence[Candidates]]


def groups(
    problem: NodeProblem, claim: ResolvedClaim, constraint: Constraint, requests: Alternatives, effort: Effort
) -> Groups | None:
    """Return how many devices the constraint lets be chosen together; None where the attribute is derived."""
    covered = [one for alternatives in requests for one in alternatives if covers(constraint.requests, one.request)]
    derived = any(each.name == constraint.attribute for one in covered for each in one.request.spec.derived_attributes)
    if derived or not covered:
        return None
    rows: IntArray = np.array([problem.row(at) for at in _positions(covered)], np.int32)
    column = problem.view.table.rows.columns.column(ColumnKey("attribute", constraint.attribute))
    codes = column.codes[rows].tolist()
    sizes: Tally[str] = Tally()
    for code in codes:
        value = column.values[code] if code else ()
        sizes.update({value_text(each) for each in (value if isinstance(value, tuple) else (value,))})
    without = codes.count(0)
    key = ColumnKey("attribute", constraint.attribute)
    suggestion = Published(problem.view.table, rows, effort).suggestion(key) if without == len(codes) and codes else ""
    value, largest = max(sizes.items(), key=lambda item: item[1], default=("", 0))
    most = largest if constraint.kind == "match" else len(sizes)
    wanted = _least(claim, constraint)
    return Groups(constraint.kind, constraint.attribute, wanted, most, value, without, suggestion)


def _least(claim: ResolvedClaim, constraint: Constraint) -> int:
    """Return the least number of devices that the constraint is about, requests for all of them taken as one."""
    wanted = 0
    for alternatives in claim.requests:
        counts = [1 if one.is_all else one.spec.count for one in alternatives if covers(constraint.requests, one)]
        wanted += min(counts, default=0)
    return wanted


def counters(problem: NodeProblem, requests: Alternatives) -> Iterator[Shortage]:
    """Yield the counter that the device that lacks least lacks, else the counters of which all together lack."""
    wanted = [min(alternatives, key=lambda one: one.wanted) for alternatives in requests]
    positions = _positions(wanted)
    pools = {
        number: _left(problem, problem.layout.pools[number])
        for number in sorted({int(problem.layout.pool_numbers[at]) for at in positions})
    }
    amounts: dict[tuple[int, Counter], list[int]] = {}
    for position in positions:
        number = int(problem.layout.pool_numbers[position])
        for counter, amount in consumed_counters(problem.traits[position]):
            amounts.setdefault((number, counter), []).append(amount)
    devices = sum(one.wanted for one in wanted)
    lacks: list[tuple[int, int, Counter, int]] = []
    for (number, counter), each in amounts.items():
        left = pools[number][counter]
        single = [amount for amount in each if amount > left]
        # So many of them have to be taken if all the others are.
        together = sum(sorted(each)[: max(0, devices - (len(positions) - len(each)))])
        if single:
            lacks.append((min(single) - left, number, counter, min(single)))
        elif together > left:
            lacks.append((together - left, number, counter, together))
    if lacks:
        _, number, counter, amount = min(lacks, key=lambda one: one[0])
        yield _short(problem.layout.pools[number], counter, amount, pools[number][counter])


def _short(pool: PoolOnNode, counter: Counter, wanted: int, left: int) -> Shortage:
    name, key = counter
    total = counter_sets(pool.universe)[name].counters[key]
    return Shortage(key, amount_text(wanted), amount_text(left), str(total), name, str(pool.record.id))


def _left(problem: NodeProblem, pool: PoolOnNode) -> dict[Counter, int]:
    left = {
        (name, counter): amount.nanos
        for name, each in counter_sets(pool.universe).items()
        for counter, amount in each.counters.items()
    }
    for consumption in held_consumption(problem, pool):
        for counter, amount in consumption.counters.items():
            left[consumption.counter_set, counter] -= amount.nanos
    return left


def scarcity(requests: Alternatives) -> Scarcity:
    """Return how many devices all requests want together, and how many there are that one of them may have."""
    wanted = [min(alternatives, key=lambda one: one.wanted) for alternatives in requests]
    return Scarcity(sum(one.wanted for one in wanted), len(_positions(wanted)))


def _positions(candidates: Iterable[Candidates]) -> list[int]:
    return sorted({position for one in candidates for position in one.positions})


def capacity(problem: NodeProblem, requests: Alternatives) -> Iterator[Fact]:
    """Yield what the requests take of each capacity at least, and what their devices have left of it."""
    wanted = [min(alternatives, key=lambda one: one.wanted) for alternatives in requests]
    positions = _positions(wanted)
    names = sorted({name for at in positions for name in problem.capacities(at)})
    for name in names:
        left = total = 0
        for at in positions:
            amount = problem.capacities(at).get(name)
            used = sum(one.consumed[name].nanos for one in problem.holders(at) if name in one.consumed)
            total += amount.value.nanos if amount else 0
            left += max(0, amount.value.nanos - used) if amount else 0
        asked = sum(one.wanted * _asked(problem, one, name) for one in wanted)
        if asked > left:
            yield Shortage(name, amount_text(asked), amount_text(left), amount_text(total))


def _asked(problem: NodeProblem, request: Candidates, name: str) -> int:
    """Return the least that a device of the request takes of a capacity, in nano-units."""
    served = (problem.consumption(request.request, at) for at in request.positions)
    return min((amounts[name].nanos for amounts in served if amounts is not None and name in amounts), default=0)
