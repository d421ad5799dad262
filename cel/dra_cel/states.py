"""Three-valued logic over arrays, with a fourth value for what has not been evaluated yet."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

FALSE, TRUE, ERROR, UNKNOWN = 0, 1, 2, 3

States = npt.NDArray[np.uint8]
"""One of FALSE, TRUE, ERROR and UNKNOWN per row."""


def _table(absorbing: int, neutral: int) -> States:
    """Return the truth table of `&&` or `||` as an array indexed by left * 4 + right."""
    result = np.empty(16, np.uint8)
    for left in range(4):
        for right in range(4):
            both = {left, right}
            if absorbing in both:
                value = absorbing
            elif UNKNOWN in both:
                value = UNKNOWN
            elif ERROR in both:
                value = ERROR
            else:
                value = neutral
            result[left * 4 + right] = value
    return result


_AND = _table(FALSE, TRUE)
_OR = _table(TRUE, FALSE)
_NOT = np.array([TRUE, FALSE, ERROR, UNKNOWN], np.uint8)


def all_of(left: States, right: States) -> States:
    """Return `left && right`: false wins over an error."""
    return cast(States, _AND[(left << 2) | right])


def any_of(left: States, right: States) -> States:
    """Return `left || right`: true wins over an error."""
    return cast(States, _OR[(left << 2) | right])


def negated(operand: States) -> States:
    """Return `!operand`."""
    return _NOT[operand]


def chosen(condition: States, then: States, other: States) -> States:
    """Return `condition ? then : other`; an error of the condition stays one."""
    return np.where(condition == TRUE, then, np.where(condition == FALSE, other, condition)).astype(np.uint8)
