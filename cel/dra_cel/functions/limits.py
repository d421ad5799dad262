"""Bounds on what one call may build, so that no expression can exhaust memory before its cost is known."""

from __future__ import annotations

from dra_cel.errors import CostLimitExceeded

MAX_TEXT = 10_000_000
"""Characters. A text of this length costs 1,000,000 units to traverse once, the limit of a selector."""
MAX_ELEMENTS = 1_000_000


def check_text(length: int) -> None:
    """Raise CostLimitExceeded if a string of this length would be built."""
    if length > MAX_TEXT:
        raise CostLimitExceeded(f"a string of {length} characters would be built, more than {MAX_TEXT}")


def check_elements(count: int) -> None:
    """Raise CostLimitExceeded if a list of this length would be built."""
    if count > MAX_ELEMENTS:
        raise CostLimitExceeded(f"a list of {count} elements would be built, more than {MAX_ELEMENTS}")
