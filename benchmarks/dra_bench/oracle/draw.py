"""Random choices from a seed, in the words of the generators."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """The same seed gives the same choices, on every platform."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(str(seed))

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random.random() < probability

    def number(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return self._random.randint(low, high)

    def one(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self._random.randrange(len(values))]

    def weighted(self, values: dict[T, int]) -> T:
        """One of the keys, each as often as its weight says."""
        return self._random.choices(list(values), list(values.values()))[0]

    def some(self, values: Sequence[T], low: int, high: int) -> list[T]:
        """Between low and high different values, in their order."""
        count = min(len(values), self.number(low, high))
        kept = sorted(self._random.sample(range(len(values)), count))
        return [values[index] for index in kept]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """All values in a random order."""
        return self._random.sample(list(values), len(values))
