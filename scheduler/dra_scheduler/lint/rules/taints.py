"""Taints without tolerations, and the other way round."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from dra_allocator.device import DeviceTaint, DeviceTaintRule
from dra_allocator.rules.fitness import blocking_taints, is_tolerated
from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.manifests import Document
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs


@dataclass(slots=True)
class _Seen:
    """Where a taint was seen first, and on how many devices."""

    document: Document
    field: str
    taint: DeviceTaint
    devices: int = 0


def _taint_rules(inputs: Inputs) -> list[tuple[Document, DeviceTaintRule]]:
    found = []
    for document in inputs.of_kind("DeviceTaintRule"):
        try:
            found.append((document, decode.taint_rule(document.object)))
        except DecodeError:
            continue  # reported by the rules of the API
    return found


def _blocking(inputs: Inputs) -> list[_Seen]:
    """Return every taint that keeps claims away, once by key, value and effect."""
    seen: dict[tuple[str, str, str], _Seen] = {}
    for one in inputs.published.devices:
        for i, taint in enumerate(one.device.taints):
            key = (taint.key, taint.value, taint.effect)
            seen.setdefault(key, _Seen(one.source.document, f"{one.field}.taints[{i}]", taint)).devices += 1
    for document, rule in inputs.shared(_taint_rules):
        if not rule.matches_nothing:
            key = (rule.taint.key, rule.taint.value, rule.taint.effect)
            seen.setdefault(key, _Seen(document, "spec.taint", rule.taint))
    return [one for one in seen.values() if blocking_taints((one.taint,))]


def _untolerated(inputs: Inputs) -> Iterator[Fault]:
    asks = [ask for source in inputs.claims for ask in source.asks()]
    if not asks or inputs.scope.has_gaps:
        return
    for seen in inputs.shared(_blocking):
        taint = seen.taint
        if not any(is_tolerated(taint, ask.request.tolerations) for ask in asks):
            shown = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
            where = f" (on {seen.devices} devices)" if seen.devices > 1 else ""
            hint = "add a toleration to a request that may use such devices"
            yield Fault(seen.document, seen.field, f"no request tolerates the taint {shown}{where}", hint)


def _unused(inputs: Inputs) -> Iterator[Fault]:
    if not inputs.knows_devices:
        return
    taints = [one.taint for one in inputs.shared(_blocking)]
    for source in inputs.claims:
        for ask in source.asks():
            for i, toleration in enumerate(ask.request.tolerations):
                if toleration.key and not any(is_tolerated(taint, (toleration,)) for taint in taints):
                    near = difflib.get_close_matches(toleration.key, {taint.key for taint in taints}, 1)
                    hint = f"there is a taint {near[0]}" if near else ""
                    problem = f"no device has a taint that the toleration of {toleration.key!r} fits"
                    yield Fault(source.document, f"{ask.field}.tolerations[{i}]", problem, hint)


def _matches_nothing(inputs: Inputs) -> Iterator[Fault]:
    for document, rule in inputs.shared(_taint_rules):
        if rule.matches_nothing:
            hint = "write deviceSelector: {} for all devices, or name driver, pool or device"
            yield Fault(document, "spec", "without deviceSelector the rule taints no device", hint)
        elif inputs.knows_devices and not any(_selects(rule, *one) for one in _places(inputs)):
            hint = "compare driver, pool and device with the ResourceSlices"
            yield Fault(document, "spec.deviceSelector", "selects no device that is published", hint)


def _places(inputs: Inputs) -> Iterator[tuple[str, str, str]]:
    for one in inputs.published.devices:
        yield one.source.slice.driver, one.source.slice.pool, one.device.name


def _selects(rule: DeviceTaintRule, driver: str, pool: str, device: str) -> bool:
    return rule.driver in (None, driver) and rule.pool in (None, pool) and rule.device in (None, device)


RULES = (
    Rule("taint-untolerated", "warning", "no request tolerates a taint of a device", _untolerated),
    Rule("toleration-unused", "warning", "a toleration fits no taint", _unused),
    Rule("taint-rule-matches-nothing", "warning", "a DeviceTaintRule taints no device", _matches_nothing),
)
