"""What a selector says about many rows at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Masks:
    """Three masks over the rows asked for; at most one is set per row, none means 'does not match'.

    Attributes:
        match: the selector is true.
        error: evaluating it fails (a missing key, a type mismatch, ...).
        unknown: not evaluated yet; `Selector.resolve` evaluates one such row.

    """

    match: BoolArray
    error: BoolArray
    unknown: BoolArray
