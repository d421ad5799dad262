"""Which published devices selectors match: every text is evaluated once over all devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dra_cel.columns import DeviceColumns
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError
from dra_cel.selector import Selector, compile_selector

BoolArray = npt.NDArray[np.bool_]

_ROUNDS = 60
"""Slices of some five milliseconds that one selector gets."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one selector of a chain did to the devices that were left when its turn came."""

    before: BoolArray
    match: BoolArray
    error: BoolArray

    @property
    def left(self) -> BoolArray:
        """The devices that are left for the next one."""
        left: BoolArray = self.before & self.match
        return left

    @property
    def failed(self) -> BoolArray:
        """The devices on which it failed with an error."""
        failed: BoolArray = self.before & self.error
        return failed


@dataclass(slots=True)
class Judge:
    """Evaluates selectors over devices and remembers the results.

    Attributes:
        devices: what selectors read of each device; rows are positions in it.

    """

    devices: Sequence[DeviceFields]
    _columns: DeviceColumns = field(init=False)
    _selectors: dict[str, Selector | None] = field(init=False, default_factory=dict)
    _results: dict[str, tuple[BoolArray, BoolArray] | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._columns = DeviceColumns(self.devices)

    def everything(self) -> BoolArray:
        """Return a mask with all devices in it."""
        return np.ones(len(self.devices), np.bool_)

    def selector(self, text: str) -> Selector | None:
        """Return the compiled text, or None where it does not compile."""
        if text not in self._selectors:
            try:
                self._selectors[text] = compile_selector(text)
            except CompileError:
                self._selectors[text] = None
        return self._selectors[text]

    def chain(self, texts: Sequence[str], start: BoolArray | None = None) -> list[Step] | None:
        """Evaluate selectors one after the other, as an allocation does; None where that cannot be told.

        Args:
            texts: the selectors, in order.
            start: the devices to begin with; None: all.

        """
        steps: list[Step] = []
        left = self.everything() if start is None else start
        for text in texts:
            result = self._evaluated(text)
            if result is None:
                return None
            steps.append(Step(left, *result))
            left = steps[-1].left
        return steps

    def _evaluated(self, text: str) -> tuple[BoolArray, BoolArray] | None:
        if text not in self._results:
            self._results[text] = self._evaluate(text)
        return self._results[text]

    def _evaluate(self, text: str) -> tuple[BoolArray, BoolArray] | None:
        selector = self.selector(text)
        if selector is None:
            return None
        for _ in range(_ROUNDS):
            masks = selector.masks(self._columns)
            if not masks.unknown.any():
                return masks.match, masks.error
        return None  # too costly to tell


def left_after(steps: Sequence[Step], start: BoolArray) -> BoolArray:
    """Return the devices that a chain leaves."""
    return steps[-1].left if steps else start
