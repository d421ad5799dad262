"""An asyncio event loop in virtual time: when nothing is ready, time jumps to the next timer.

    loop time  0.0 ----------------- 1.0 -------------------------- 31.0
    ready      a, b run              the sleeper of 1 s runs        the timer of 31 s runs
                      nothing ready: jump         nothing ready: jump

Runs are deterministic: ready callbacks run first in, first out, timers by time and then by order of creation, and tasks
and futures hash by a serial number, so that sets of them (task groups, `asyncio.wait`) are walked in the same order in
every run. No thread, no socket and no real clock takes part; what would need one is refused.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from types import CodeType
from typing import Any, NoReturn, TypeVar, TypeVarTuple, Unpack

from dra_embedded.errors import DeadlockError, VirtualTimeError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
"""Where `VirtualClock` starts unless told otherwise."""


_ROUNDING = 1e-6


class _Serial:
    """Numbers tasks and futures of one loop."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def next(self) -> int:
        self.value += 1
        return self.value


class _Task(asyncio.Task[T]):
    """A task that hashes by its serial number instead of its address."""

    def __init__(self, coro: Any, *, loop: VirtualTimeLoop, **options: Any) -> None:
        self._serial = loop.serial.next()
        super().__init__(coro, loop=loop, **options)

    def __hash__(self) -> int:
        return self._serial

    def __eq__(self, other: object) -> bool:
        return self is other


class _Future(asyncio.Future[T]):
    """A future that hashes by its serial number instead of its address."""

    def __init__(self, *, loop: VirtualTimeLoop) -> None:
        self._serial = loop.serial.next()
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._serial

    def __eq__(self, other: object) -> bool:
        return self is other


class _JumpingSelector(selectors.BaseSelector):
    """Never waits: a wait of N seconds moves the time by N, a wait for ever is a deadlock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.on_deadlock: Callable[[], NoReturn] | None = None
        self.next_timer: Callable[[float], float] = float
        self._keys: dict[int, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        if self._keys:  # the first one is the loop's own wake-up pipe
            raise VirtualTimeError("a virtual-time loop does no input or output; use a transport that needs none")
        fd = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        key = selectors.SelectorKey(fileobj, fd, events, data)
        self._keys[fd] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            if self.on_deadlock is not None:
                self.on_deadlock()
        elif timeout > 0:
            self.now = self.next_timer(self.now + timeout)
        return []

    def close(self) -> None:
        self._keys.clear()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The loop; `time()` starts at 0 and is in seconds."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        self.serial = _Serial()
        super().__init__(self._jumping)
        self._jumping.on_deadlock = self._deadlock
        self._jumping.next_timer = self._next_timer
        self.set_task_factory(_new_task)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumping.now

    @property
    def _clock_resolution(self) -> float:
        """The smallest step of time: a timer runs when its time has come, and not a hair before.

        asyncio takes timers along that are due within a clock's resolution. In virtual time nothing moves meanwhile, so
        code that compares times would wait for the same moment again and again.
        """
        return math.ulp(self._jumping.now)

    @_clock_resolution.setter
    def _clock_resolution(self, _: float) -> None:
        """asyncio sets that of the machine's clock, which has no say here."""

    def create_future(self) -> asyncio.Future[Any]:
        """As asyncio's, with a hash that is the same in every run."""
        return _Future(loop=self)

    def run_in_executor(self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts) -> NoReturn:
        """Refused: a thread would run in real time. Raises VirtualTimeError."""
        raise VirtualTimeError(f"a virtual-time loop has no threads, but {func!r} was to run in one")

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run `main` to its end in virtual time, then cancel what is left and close the loop.

        Raises DeadlockError when `main` can never end, and whatever `main` raises.
        """
        with asyncio.Runner(loop_factory=lambda: self) as runner:
            return runner.run(main)

    def _next_timer(self, about: float) -> float:
        """The exact time of the next timer, when it is within rounding of `about`.

        The loop computes how long to wait as a difference, and adding that to the time again rounds; a timer that runs
        a hair early would make code that compares times wait again and again for the rest.
        """
        scheduled: list[asyncio.TimerHandle] = getattr(self, "_scheduled", [])
        if scheduled and abs(scheduled[0].when() - about) < _ROUNDING:
            return scheduled[0].when()
        return about

    def _deadlock(self) -> NoReturn:
        tasks = sorted(asyncio.all_tasks(self), key=hash)
        raise DeadlockError(tuple(f"{task.get_name()}: {_where(task)}" for task in tasks))


class VirtualClock:
    """The clock port of a virtual-time loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, start: datetime = EPOCH) -> None:
        self._loop = loop
        self._start = start

    def monotonic(self) -> float:
        """The loop's time, in seconds."""
        return self._loop.time()

    def now(self) -> datetime:
        """The start plus the loop's time, UTC."""
        return self._start + timedelta(seconds=self._loop.time())


def run_virtual(main: Callable[[VirtualClock], Coroutine[Any, Any, T]], start: datetime = EPOCH) -> T:
    """Run `main(clock)` on a virtual-time loop of its own and return its result. Raises what `main` raises."""
    loop = VirtualTimeLoop()
    return loop.run(main(VirtualClock(loop, start)))


def _new_task(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
    if not isinstance(loop, VirtualTimeLoop):
        raise VirtualTimeError("the task factory of virtual time works on a VirtualTimeLoop only")
    return _Task(coro, loop=loop, **options)


def _where(task: asyncio.Task[Any]) -> str:
    """The innermost place of a waiting task: file, line and function."""
    awaiting: Any = task.get_coro()
    code: CodeType | None = None
    line = 0
    while awaiting is not None:
        frame = getattr(awaiting, "cr_frame", None) or getattr(awaiting, "gi_frame", None)
        if frame is None:
            break
        code, line = frame.f_code, frame.f_lineno
        awaiting = getattr(awaiting, "cr_await", None) or getattr(awaiting, "gi_yieldfrom", None)
    if code is None:
        return "not started"
    return f"waits in {code.co_qualname} ({code.co_filename}:{line})"
