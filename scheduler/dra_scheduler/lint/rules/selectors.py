"""Selectors that match nothing, fail on devices, or ask for what nobody publishes.

A selector gets one finding at most: the one that says most about why it does not work.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dra_api.manifests import Document
from dra_cel.columns import ColumnKey
from dra_cel.device import DeviceFields
from dra_cel.errors import EvaluationError
from dra_cel.selector import Selector
from dra_scheduler.lint.attributes import nearest
from dra_scheduler.lint.expressions import DRIVER, TYPE_NAMES, Use, uses
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.judge import BoolArray, Step
from dra_scheduler.report.phrases import some_of

Named = tuple[str, Fault]


@dataclass(frozen=True, slots=True)
class _Place:
    """The selectors of a class or request: the document and the path of the list."""

    document: Document
    path: str

    def fault(self, i: int, problem: str, hint: str) -> Fault:
        return Fault(self.document, f"{self.path}[{i}].cel.expression", problem, hint)


def _all(inputs: Inputs) -> list[Named]:
    if not inputs.knows_devices:
        return []
    found: list[Named] = []
    for one in inputs.classes.values():
        found += _faults(inputs, _Place(one.document, "spec.selectors"), one.device_class.selectors, None)
    for source in inputs.claims:
        for ask in source.asks():
            start = inputs.matching_class(ask.request.device_class)
            place = _Place(source.document, f"{ask.field}.selectors")
            found += _faults(inputs, place, ask.request.selectors, start)
    return found


def _faults(inputs: Inputs, place: _Place, texts: Sequence[str], start: BoolArray | None) -> list[Named]:
    """Judge the selectors of one list, which begin with the devices that the class leaves (None: all, or unknown)."""
    found: list[Named] = []
    for i, text in enumerate(texts):
        selector = inputs.judge.selector(text)
        static = None if selector is None else _static(inputs, selector)
        if static is not None:
            name, problem, hint = static
            found.append((name, place.fault(i, problem, hint)))
    if found:
        return found
    steps = inputs.judge.chain(texts, start)
    for i, step in enumerate(steps or ()):
        ran = _ran(inputs, step, texts[i])
        if ran is not None:
            name, problem, hint = ran
            return [(name, place.fault(i, problem, hint))]
    return []


_NAMED = 6
_Verdict = tuple[str, str, str]
"""Name, problem, hint."""


def _static(inputs: Inputs, selector: Selector) -> _Verdict | None:
    """Compare the names and types in the text with what is published."""
    known = inputs.shared(_known)
    for key in sorted(selector.reads or (), key=lambda key: (key.kind, key.name)):
        if key.kind in ("attribute", "capacity") and key not in known.keys:
            return _unknown(known, key)
    for use in uses(selector.text):
        types = known.types.get(use.attribute, set())
        if types and not types & use.types:
            return _wrong_type(use, types)
    return None


@dataclass(frozen=True, slots=True)
class _Known:
    """What is published: columns, domains, types by attribute."""

    keys: frozenset[ColumnKey]
    domains: frozenset[str]
    types: dict[str, set[type]]


def _known(inputs: Inputs) -> _Known:
    types: dict[str, set[type]] = {}
    capacities: set[str] = set()
    for one in inputs.published.devices:
        for name, value in one.fields.attributes.items():
            types.setdefault(name, set()).add(type(value))
        capacities |= set(one.fields.capacity)
    keys = {ColumnKey("attribute", name) for name in types} | {ColumnKey("capacity", name) for name in capacities}
    domains = frozenset(key.name.partition("/")[0] for key in keys)
    return _Known(frozenset(keys), domains | {one.fields.driver for one in inputs.published.devices}, types)


def _unknown(known: _Known, key: ColumnKey) -> _Verdict:
    domain, _, name = key.name.partition("/")
    same_kind = {one.name for one in known.keys if one.kind == key.kind}
    if domain not in known.domains:
        hint = nearest(key.name, same_kind)
        return "unknown-domain", f"no device has anything in the domain {domain!r}", hint
    # The same name in another driver's domain is not what this selector is about.
    own = {one for one in same_kind if one.partition("/")[0] == domain}
    hint = nearest(key.name, own) or _those(own)
    if key.kind == "capacity" and ColumnKey("attribute", key.name) in known.keys:
        hint = "it is an attribute: read it from device.attributes"
    elif ColumnKey("capacity", key.name) in known.keys:
        hint = "it is a capacity: read it from device.capacity"
    return "unknown-attribute", f"no device has the {key.kind} {name!r} in {domain}", hint


def _those(names: set[str]) -> str:
    short = sorted(name.partition("/")[2] for name in names)
    return f"there {'is' if len(short) == 1 else 'are'} {some_of(short, _NAMED)}" if short else ""


def _wrong_type(use: Use, types: set[type]) -> _Verdict:
    shown = " or ".join(sorted(TYPE_NAMES[one] for one in types))
    problem = f"{use.attribute} is published as {shown}, and {use.how} here"
    return "wrong-type-compared", problem, _type_hint(use, types)


def _type_hint(use: Use, types: set[type]) -> str:
    if tuple in types:
        return "`includes` asks whether a list has a value"
    text = use.values[0] if len(use.values) == 1 else None
    names = {one.__name__ for one in types}
    if names == {"Semver"} and isinstance(text, str):
        return f'compare with semver("{text}")'
    if names == {"int"} and isinstance(text, str) and text.lstrip("-").isdigit():
        return f"write {text} without quotes"
    if names == {"bool"} and text in ("true", "false"):
        return f"write {text} without quotes"
    if names == {"str"} and text is not None and not isinstance(text, str):
        return f'write it in quotes: "{str(text).lower() if isinstance(text, bool) else text}"'
    return ""


def _ran(inputs: Inputs, step: Step, text: str) -> _Verdict | None:
    """Judge what one selector did to the devices that were left when its turn came."""
    before, failed = int(step.before.sum()), int(step.failed.sum())
    if failed:
        device = inputs.published.devices[int(np.flatnonzero(step.failed)[0])]
        reason = _reason(inputs, text, device.fields)
        problem = f"fails on {failed} of {before} devices, first on {device}: {reason}"
        return (
            "selector-fails",
            problem,
            "a pod that meets such a device is not scheduled: test device.driver or has() first",
        )
    if before and not step.left.any():
        return (
            "selector-matches-nothing",
            f"matches none of {before} devices",
            _nearest_value(inputs, step, text),
        )
    return None


def _nearest_value(inputs: Inputs, step: Step, text: str) -> str:
    """Return what devices publish in the place of a text that none of them has, or where to look on."""
    rows = np.flatnonzero(step.before)
    for use in uses(text):
        wanted = [value for value in use.values if isinstance(value, str)]
        found = {_text_of(inputs.published.devices[row].fields, use.attribute) for row in rows} - {None}
        if not use.is_equality or not wanted or found & set(wanted):
            continue
        known = sorted(str(value) for value in found)
        near = difflib.get_close_matches(wanted[0], known, 1)
        if near:
            return f"{use.attribute}: did you mean {near[0]}?"
        if known:
            return f"{use.attribute} is {', '.join(known[:5])}{', ...' if len(known) > 5 else ''} in these devices"
    return "`dra-scheduler cel` shows why, by device"


def _text_of(fields: DeviceFields, attribute: str) -> str | None:
    value = fields.driver if attribute == DRIVER else fields.attributes.get(attribute)
    return value if isinstance(value, str) else None


def _reason(inputs: Inputs, text: str, fields: DeviceFields) -> str:
    selector = inputs.judge.selector(text)
    assert selector is not None
    try:
        selector.matches(fields)
    except EvaluationError as error:
        return error.message
    return "an error"


def _selected(name: str) -> Callable[[Inputs], Iterator[Fault]]:
    def check(inputs: Inputs) -> Iterator[Fault]:
        return (fault for found, fault in inputs.shared(_all) if found == name)

    return check


def _named_rule(name: str, summary: str) -> Rule:
    return Rule(name, "warning", summary, _selected(name))


RULES = (
    _named_rule("unknown-domain", "a selector reads a domain in which nobody publishes anything"),
    _named_rule("unknown-attribute", "a selector reads an attribute or capacity that no device has"),
    _named_rule("wrong-type-compared", "a selector compares an attribute with a value of another type"),
    _named_rule("selector-fails", "a selector ends in an error on devices that it meets"),
    _named_rule("selector-matches-nothing", "a selector matches no device that is published"),
)
