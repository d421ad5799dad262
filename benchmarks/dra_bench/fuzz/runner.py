"""Runs one seed after another, catches what must not happen, and makes it small."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dra_bench.fuzz.study import FuzzError, PropertyError, SlowError, Study, Watch

STUCK_SECONDS = 20
"""CPU time after which an input counts as one that never ends."""
TRIES = 4
"""What is slow is tried so often: other processes and the collector of garbage are no defect of ours."""
QUESTIONS = 400
"""Smaller inputs that are tried at most."""


class StuckError(FuzzError):
    """An input took so long that it was stopped: a defect."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An input for which something does not hold; `shape` says what, without the values of this input."""

    given: Any
    shape: str
    detail: str


class Runner:
    """Runs the seeds of a study. `clock` gives CPU seconds; `worst` is the most that each part took (milliseconds)."""

    def __init__(self, study: Study, clock: Callable[[], float]) -> None:
        self._study = study
        self._clock = clock
        self.worst: dict[str, float] = {}

    def run(self, seed: int) -> str | Failure:
        """Return the kind of the outcome, or what failed."""
        return self._try(self._study.make(seed))

    def _try(self, given: Any) -> str | Failure:
        found: str | Failure = ""
        for _ in range(TRIES):
            watch = Watch(self._clock)
            found = self._once(given, watch)
            if not (isinstance(found, Failure) and found.shape.startswith("SlowError")):
                for part, taken in watch.worst.items():
                    self.worst[part] = max(taken, self.worst.get(part, 0.0))
                break
        return found

    def _once(self, given: Any, watch: Watch) -> str | Failure:
        try:
            with _alarm():
                return self._study.check(given, watch)
        except SlowError as error:
            return Failure(given, f"SlowError {str(error).split(' took ')[0]}", str(error))
        except PropertyError as error:
            frame = traceback.extract_tb(error.__traceback__)[-2]
            return Failure(given, f"PropertyError {frame.filename}:{frame.lineno}", str(error))
        except Exception as error:  # anything else is the defect that is looked for
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return Failure(given, f"{type(error).__name__} {frame.filename}:{frame.lineno}", traceback.format_exc())

    def report(self, failure: Failure) -> str:
        """Return the failure with an input that is as small as it gets."""
        small = self._small(failure)
        return f"{small.detail.strip()}\n  input: {self._study.show(small.given)}"

    def _small(self, failure: Failure) -> Failure:
        asked = 0
        progress = True
        while progress and asked < QUESTIONS:
            progress = False
            for given in self._study.smaller(failure.given):
                asked += 1
                found = self._try(given)
                if isinstance(found, Failure) and found.shape == failure.shape:
                    failure, progress = found, True
                    break
                if asked >= QUESTIONS:
                    break
        return failure


@contextmanager
def _alarm() -> Iterator[None]:
    """Raise StuckError in the work after so much CPU time; works in the main thread only."""

    def stop(_signal: int, _frame: object) -> None:
        raise StuckError(f"not done after {STUCK_SECONDS} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, STUCK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
