"""What exactly was missing, in words: one text per kind of fact."""

from __future__ import annotations

import re

from dra_allocator.facts import Condition, Fact, Groups, PoolFact, Scarcity, Shortage, TaintFact, Values
from dra_scheduler.report.phrases import counted, shortened, some_of

_RISING = re.compile(r">=?|isGreaterThan")
_FALLING = re.compile(r"<=?|isLessThan")


def fact_text(fact: Fact) -> str:
    """Return a fact as half a sentence."""
    match fact:
        case Condition():
            return condition_text(fact)
        case TaintFact():
            return f"{fact.key}{f'={fact.value}' if fact.value else ''}:{fact.effect}"
        case Shortage():
            return _shortage(fact)
        case Groups():
            return _groups(fact)
        case PoolFact():
            return _pool(fact)
        case Scarcity():
            return f"they want {counted(fact.wanted, 'device')} together, and there are {fact.most:,} for them"


def condition_text(condition: Condition) -> str:
    """Return which condition it is, what became of it, and what devices have instead."""
    unmet = condition.false + condition.failing
    where = f" on {unmet:,}" if unmet < condition.devices else " on all of them" if unmet > 1 else ""
    said = shortened(condition.text)
    if condition.failing < condition.devices:
        said += f" {'fails' if condition.failing else 'is false'}{where}"
    has = [found for values in condition.values if (found := _values(values, condition))]
    # A key that is not there is what `_values` says in more words.
    if condition.error and not (has and condition.error.startswith("no such key")):
        said = f"{said} ({condition.error})"
    return f"{said}: {'; '.join(has)}" if has else said


def _values(values: Values, condition: Condition) -> str:
    name = values.name.rpartition("/")[2] or "driver"
    kind = "attribute" if values.kind == "attribute" else "capacity"
    if not values.having:
        whose = "none of them has" if values.devices > 1 else "it does not have"
        lack = f"{whose} the {kind} {values.name}"
        total = len(values.others) + values.more
        if values.suggestion:
            return f"{lack}, did you mean {values.suggestion}?"
        return f"{lack} (there are {some_of(values.others, len(values.others), total)})" if values.others else lack
    if values.having < values.devices and condition.failing:
        lacking = values.devices - values.having
        lack = f"{lacking:,} of {values.devices:,} lack the {kind} {values.name}"
        return f"{lack}, allow for that with .?{name}.orValue(...)"
    return _has(values, name, condition)


def _has(values: Values, name: str, condition: Condition) -> str:
    """What the devices have, with the types where evaluating failed."""
    types = f" (of type {' or '.join(values.kinds)}{_written(values)})" if condition.failing and values.kinds else ""
    if values.distinct == 1:
        return f"{name} is {values.values[0][0]}{types}"
    if values.most and not condition.failing:
        rising, falling = _RISING.search(condition.text), _FALLING.search(condition.text)
        if rising and not falling:
            return f"the most that one of them has is {values.most}"
        if falling and not rising:
            return f"the least that one of them has is {values.least}"
    unlike = values.distinct == values.having
    shown = ", ".join(text if unlike else f"{text} on {count:,}" for text, count in values.values)
    more = values.distinct - len(values.values)
    return f"{name} is {shown}{f' and {more:,} other values' if more else ''}{types}"


def _written(values: Values) -> str:
    """Return how to write a value that such a one can be compared with."""
    return f', compare it with semver("{values.values[0][0]}")' if values.kinds == ("version",) else ""


def _shortage(fact: Shortage) -> str:
    if fact.counter_set:
        whose = f"counter set {fact.counter_set} of pool {fact.pool}"
        return f"{fact.wanted} of {fact.name} is needed, and {whose} has {fact.left} of {fact.total} left"
    if not fact.left:
        return f"{fact.wanted} of {fact.name} is no amount that the devices give, by their request policy"
    if fact.total == "0":
        return f"{fact.wanted} of {fact.name} is wanted, and the devices have no such capacity"
    where = f" on {fact.device}" if fact.device else ""
    return f"{fact.wanted} of {fact.name} is wanted, and the most that is left is {fact.left} of {fact.total}{where}"


def _groups(fact: Groups) -> str:
    name = f"constraint {fact.rule}Attribute {fact.attribute}"
    if fact.without and not fact.most:
        meant = f", did you mean {fact.suggestion}?" if fact.suggestion else ""
        return f"{name}: none of the devices has that attribute{meant}"
    lacking = f"; {fact.without:,} lack it" if fact.without else ""
    if fact.rule == "match":
        wanted = f"{counted(fact.wanted, 'device')} with the same value on one node"
        return f"{name} wants {wanted}, and at most {fact.most:,} have the same: {fact.value}{lacking}"
    return f"{name} wants {counted(fact.wanted, 'different value')} on one node, and there are {fact.most:,}{lacking}"


def _pool(fact: PoolFact) -> str:
    if fact.problem:
        return f"{fact.pool} ({fact.problem}; its driver has to correct that)"
    slices = f"{fact.slices} of {counted(fact.expected, 'ResourceSlice')}"
    return f"{fact.pool} (its driver has published {slices} of generation {fact.generation})"
