"""What a study is: inputs from seeds, and what must hold for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


class FuzzError(Exception):
    """Base class."""


class PropertyError(FuzzError):
    """Something that must hold does not: a defect of the package that was asked. The text says what."""


class SlowError(FuzzError):
    """A part of the work took more CPU time than it may: a defect, unless it takes less when tried again."""


@dataclass(slots=True)
class Watch:
    """Measures the parts of an input's work with an injected clock of CPU seconds. `worst` is in milliseconds."""

    clock: Callable[[], float]
    worst: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def at_most(self, milliseconds: float, part: str) -> Iterator[None]:
        """Measure a part. Raises SlowError if it took longer."""
        started = self.clock()
        yield
        taken = (self.clock() - started) * 1000
        self.worst[part] = max(self.worst.get(part, 0.0), taken)
        if taken > milliseconds:
            raise SlowError(f"{part} took {taken:.0f} ms, more than {milliseconds:.0f}")


@dataclass(frozen=True, slots=True)
class Study:
    """`make` gives the input of a seed; `check` returns the kind of outcome to count it by.

    `check` raises PropertyError or SlowError; any other exception is a defect too. `smaller` gives inputs with less in
    them, the smallest first, and `show` the input as text.
    """

    make: Callable[[int], Any]
    check: Callable[[Any, Watch], str]
    smaller: Callable[[Any], Iterator[Any]]
    show: Callable[[Any], str] = repr
