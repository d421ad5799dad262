"""Samples of this process: which calls were under way each time so much CPU time had passed.

A timer of CPU time (not of the clock) interrupts, so waiting costs nothing, whoever else uses the machine takes no
part, and no call gets slower, as it would under a tracing profiler. Each sample counts for the CPU time since the one
before, in the kernel too: a long call into C is one sample that counts for much.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import orjson

from dra_bench.profile.errors import ProfileError

INTERVAL = 0.001
"""Seconds of CPU time between two samples; kernels do not always manage so many."""

Sample = tuple[float, tuple[str, ...]]
"""Seconds, and the calls under way as `module:function`, innermost first."""


class Sampler:
    """Samples the main thread from `start` to `stop`."""

    def __init__(self) -> None:
        self._last = 0.0
        self._stacks: list[tuple[float, tuple[int, ...]]] = []
        self._calls: dict[int, tuple[CodeType, str]] = {}
        # The code objects are kept, so that no other one gets the same id.

    def start(self) -> None:
        """Begin."""
        self._last = time.process_time()
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def stop(self) -> None:
        """End; nothing is sampled any more."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def samples(self) -> Iterator[Sample]:
        """The samples in their order."""
        names = {key: f"{module}:{code.co_qualname}" for key, (code, module) in self._calls.items()}
        for seconds, stack in self._stacks:
            yield seconds, tuple(names[call] for call in stack)

    def _sample(self, number: int, frame: FrameType | None) -> None:
        now = time.process_time()
        stack = []
        while frame is not None:
            code = frame.f_code
            key = id(code)
            if key not in self._calls:
                self._calls[key] = code, frame.f_globals.get("__name__", "?")
            stack.append(key)
            frame = frame.f_back
        self._stacks.append((now - self._last, tuple(stack)))
        self._last = now


def write(path: Path, samples: Iterator[Sample]) -> None:
    """Write samples to a file. Raises OSError."""
    path.write_bytes(orjson.dumps(list(samples)))


def read(path: Path) -> list[Sample]:
    """Return the samples that `write` wrote. Raises ProfileError."""
    try:
        return [(seconds, tuple(stack)) for seconds, stack in orjson.loads(path.read_bytes())]
    except (OSError, orjson.JSONDecodeError) as error:
        raise ProfileError(f"there are no samples: {error}") from error
