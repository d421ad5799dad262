"""The array types of the device table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int32]
ByteArray = NDArray[np.uint8]


def grown(array: NDArray[Any], size: int, fill: int = 0) -> NDArray[Any]:
    """Return the array with room for at least `size` entries, doubling so that growing is cheap in total."""
    if size <= len(array):
        return array
    result = np.full(max(size, 2 * len(array), 64), fill, dtype=array.dtype)
    result[: len(array)] = array
    return result
