"""Configuration that no driver will ever see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.judge import BoolArray
from dra_scheduler.lint.rules.constraints import covers
from dra_scheduler.lint.sources import ClaimSource


def _unselected(inputs: Inputs) -> Iterator[Fault]:
    if not inputs.knows_devices:
        return
    for source in inputs.claims:
        for i, config in enumerate(source.claim.config):
            drivers = _drivers_of(inputs, source, config.requests)
            if drivers and config.driver not in drivers:
                where = f"{source.path}.devices.config[{i}].opaque.driver"
                yield Fault(source.document, where, *_text(config.driver, drivers))
    for one in inputs.classes.values():
        matching = inputs.matching_class(one.device_class.name)
        for i, config in enumerate(one.device_class.config):
            drivers = set() if matching is None else _drivers(inputs, matching)
            if drivers and config.driver not in drivers:
                yield Fault(one.document, f"spec.config[{i}].opaque.driver", *_text(config.driver, drivers))


def _drivers_of(inputs: Inputs, source: ClaimSource, requests: tuple[str, ...]) -> set[str]:
    """Return the drivers of all devices that the requests match; empty where that cannot be told."""
    found: set[str] = set()
    for ask in source.asks():
        if covers(requests, ask.reference):
            matching = inputs.matching(ask)
            if matching is None:
                return set()
            found |= _drivers(inputs, matching)
    return found


def _drivers(inputs: Inputs, matching: BoolArray) -> set[str]:
    return {inputs.published.devices[row].fields.driver for row in np.flatnonzero(matching)}


def _text(driver: str, drivers: set[str]) -> tuple[str, str]:
    return f"no device that matches is of driver {driver}", f"they are of {', '.join(sorted(drivers))}"


RULES = (Rule("config-driver-unselected", "warning", "a configuration is for a driver of no device", _unselected),)
