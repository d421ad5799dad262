"""What exactly was missing, in words: one text per kind of fact."""

from __future__ import annotations

import re

from dra_allocator.facts import Condition, Fact, Groups, PoolFact, Scarcity, Shortage, TaintFact, Values
from dra_scheduler.report.phrases import counted, shortened

_RISING = re.compile(r">=?|isGreaterThan")
_FALLING = re.compile(r"<=?|isLessThan")
_EFFORT = "operation cancelled: actual cost limit exceeded"


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
            return f"together they need {counted(fact.wanted, 'device')}, and {fact.most:,} are there for them"


def condition_text(condition: Condition) -> str:
    """Return which condition it is, what became of it, and what devices have instead."""
    text = shortened(condition.text)
    unmet = condition.false + condition.failing
    everywhere = f"all {unmet:,}" if unmet == condition.devices and unmet > 1 else f"{unmet:,}"
    if condition.failing:
        said = (
            f"{text} fails on {everywhere} ({condition.error})" if condition.error else f"{text} fails on {everywhere}"
        )
    else:
        said = f"{text} is false on {everywhere}"
    has = [found for values in condition.values if (found := _values(values, condition))]
    return f"{said}: {'; '.join(has)}" if has else said


def _values(values: Values, condition: Condition) -> str:
    name = values.name.rpartition("/")[2] or "driver"
    if not values.having:
        lack = f"no such device has {_kind(values)} {values.name}"
        return f"{lack}, did you mean {values.suggestion}?" if values.suggestion else lack
    if values.having < values.devices:
        missing = f"{values.devices - values.having:,} of {values.devices:,} have no {_kind(values)} {values.name}"
        if condition.failing:
            return f"{missing}; test for it first, or use .?{name}.orValue(...)"
    return _has(values, name, condition)


def _kind(values: Values) -> str:
    return "attribute" if values.kind == "attribute" else "capacity"


def _has(values: Values, name: str, condition: Condition) -> str:
    """What the devices have, with the types where evaluating failed."""
    types = f" (a {' or '.join(values.kinds)})" if condition.failing and values.kinds else ""
    if values.distinct == 1:
        return f"{name} is {values.values[0][0]}{types}"
    if values.most and _RISING.search(condition.text) and not _FALLING.search(condition.text):
        return f"the most that one has is {values.most}{types}"
    if values.most and _FALLING.search(condition.text) and not _RISING.search(condition.text):
        return f"the least that one has is {values.least}{types}"
    shown = ", ".join(f"{text} on {count:,}" for text, count in values.values)
    more = values.distinct - len(values.values)
    return f"{name} is {shown}{f' and {more:,} other values' if more else ''}{types}"


def _shortage(fact: Shortage) -> str:
    if fact.counter_set:
        return (
            f"{fact.wanted} of {fact.name} is needed, and counter set {fact.counter_set} of pool {fact.pool} has "
            f"{fact.left} of {fact.total} left"
        )
    if not fact.left:
        return f"{fact.wanted} of {fact.name} is no amount that the devices give (their request policy excludes it)"
    if fact.total == "0":
        return f"{fact.wanted} of {fact.name} is wanted, and the devices have no such capacity"
    where = f" (device {fact.device})" if fact.device else ""
    return f"{fact.wanted} of {fact.name} is wanted, and the most that is left is {fact.left} of {fact.total}{where}"


def _groups(fact: Groups) -> str:
    name = f"{fact.rule}Attribute {fact.attribute}"
    if fact.without and not fact.most:
        meant = f", did you mean {fact.suggestion}?" if fact.suggestion else ""
        return f"{name}: no such device has that attribute{meant}"
    lacking = f"; {fact.without:,} lack it" if fact.without else ""
    if fact.rule == "match":
        return (
            f"{name} wants {counted(fact.wanted, 'device')} with the same value, and at most {fact.most:,} have it "
            f"({fact.value}){lacking}"
        )
    return f"{name} wants {counted(fact.wanted, 'different value')}, and there are {fact.most:,}{lacking}"


def _pool(fact: PoolFact) -> str:
    if fact.problem:
        return f"{fact.pool} ({fact.problem})"
    return (
        f"{fact.pool} (its driver has published {fact.slices} of {counted(fact.expected, 'ResourceSlice')} of "
        f"generation {fact.generation})"
    )
