"""CEL texts in new objects: their length, whether they compile, what they cost at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dra_api.names import byte_length
from dra_api.validation.errors import forbidden, invalid, required, too_long
from dra_api.validation.lists import Errors, Raw, items
from dra_api.validation.rules import Rules
from dra_cel.errors import CompileError
from dra_cel.selector import compile_selector

MAX_SELECTORS = 32
MAX_EXPRESSION = 10 * 1024
"""Bytes of one expression."""

MAX_COST = 1_000_000
"""Units of Kubernetes' static cost estimate, for one expression."""


def selectors(path: str, value: Raw, rules: Rules, stored: bool = False) -> Errors:
    """Check the `selectors` of a request or class; stored expressions are not compiled again."""

    def check(where: str, selector: Raw) -> Errors:
        cel = selector.get("cel")
        if cel is None:
            yield required(f"{where}.cel")
        elif not stored:
            yield from _selector(f"{where}.cel.expression", cel.get("expression") or "", rules)

    return items(f"{path}.selectors", value.get("selectors") or (), MAX_SELECTORS, check)


def _selector(path: str, text: str, rules: Rules) -> Errors:
    def compiled() -> Any:
        features = rules.features
        return compile_selector(
            text,
            new_expression=True,
            list_attributes=features.list_type_attributes,
            consumable_capacity=features.consumable_capacity,
        )

    return compiles(path, text, compiled)


def compiles(path: str, text: str, compiled: Callable[[], Any], spent: list[int] | None = None) -> Errors:
    """Check one expression; its estimated cost is added to `spent`."""
    if byte_length(text) > MAX_EXPRESSION:
        yield too_long(path, MAX_EXPRESSION)
        return
    try:
        cost = compiled().estimated_cost or 0
    except CompileError as error:
        yield invalid(path, text, f"compilation failed: {error}")
        return
    if spent is not None:
        spent.append(cost)
    if cost > MAX_COST:
        yield forbidden(path, "too complex, exceeds cost limit")
