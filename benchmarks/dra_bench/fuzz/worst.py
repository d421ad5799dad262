"""How long the worst selectors hold the event loop: each piece of work that is not divided further."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from dra_bench.fuzz.selectors import sample_devices
from dra_bench.fuzz.shapes import SHAPES
from dra_cel.columns import DeviceColumns
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.selector import Selector, compile_selector

T = TypeVar("T")

REPEATS = 3
"""The best of so many counts: the machine has other things to do."""


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of CPU time of each piece; None: it is refused. `outcome` says what came out."""

    shape: str
    length: int
    compile: float
    evaluate: float | None
    masks: float | None
    outcome: str

    def __str__(self) -> str:
        pieces = (self.compile, self.evaluate, self.masks)
        shown = "".join(f"{'-' if one is None else f'{one:.1f}':>10}" for one in pieces)
        return f"{self.shape:<34}{self.length:>8}{shown}  {self.outcome[:60]}"


HEAD = f"{'shape':<34}{'length':>8}{'compile':>10}{'evaluate':>10}{'masks':>10}  outcome (milliseconds of CPU time)"


def measure(clock: Callable[[], float]) -> Iterator[Times]:
    """Measure every shape. `clock` gives CPU seconds."""
    compile_selector("true")  # what is built once does not count
    for shape, make in SHAPES.items():
        yield _times(clock, shape, make())


def _times(clock: Callable[[], float], shape: str, text: str) -> Times:
    taken, selector = _best(clock, lambda: _compiled(text))
    if isinstance(selector, CompileError):
        return Times(shape, len(text), taken, None, None, str(selector))
    device = sample_devices(0)[0]
    alone, result = _best(clock, lambda: _evaluated(selector, device))
    return Times(shape, len(text), taken, alone, _first_masks(clock, text), str(result))


def _best(clock: Callable[[], float], work: Callable[[], T]) -> tuple[float, T]:
    started = clock()
    result = work()
    taken = clock() - started
    for _ in range(REPEATS - 1):
        started = clock()
        result = work()
        taken = min(taken, clock() - started)
    return taken * 1000, result


def _compiled(text: str) -> Selector | CompileError:
    try:
        return compile_selector(text)
    except CompileError as error:
        return error


def _evaluated(selector: Selector, device: DeviceFields) -> bool | EvaluationError:
    try:
        return selector.matches(device)
    except EvaluationError as error:
        return error


def _first_masks(clock: Callable[[], float], text: str) -> float:
    """The first call builds the program over columns as well."""
    times = []
    for _ in range(REPEATS):
        selector, columns = compile_selector(text), DeviceColumns(sample_devices(0))
        started = clock()
        selector.masks(columns)
        times.append((clock() - started) * 1000)
    return min(times)
