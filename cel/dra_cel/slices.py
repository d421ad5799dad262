"""Work in slices: the event loop gets its turn in the middle of a dear evaluation or compilation.

    caller: step -> step -> step -> value          the work: ... rest() ... rest() ... done
              |                                                 |
              +---- runs until rest() finds the slice over -----+

The work is ordinary code on a stack of its own (a greenlet). It goes on exactly where it paused, so slices change
neither results nor costs nor errors; in work that is not in slices `rest` does nothing. Slices may be in each other:
a rest pauses the innermost, whose caller may then have a rest of its own.

Rejected: compiled steps as generators (each evaluation would pay for it), a second evaluator with a stack of its
own (all rules twice), starting again with what is known (the prefix is repeated in every slice), threads (timing would
decide what is seen).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from sys import getprofile, gettrace
from threading import local
from typing import Any, Generic, TypeVar, cast

from greenlet import getcurrent, greenlet

T = TypeVar("T")

Exhausted = Callable[[], bool]
"""Whether the slice is over; asked often, so it must be cheap."""

TICKS = 16
"""So many ticks are about as much work as is worth the question."""
STRIDE = 1 << 10
"""Elements of a list that are looked at between two rests: about a tenth of a millisecond."""


class Slices(Generic[T]):
    """Work that can pause. It belongs to the thread that steps it. Dropping it ends the work where it is."""

    __slots__ = ("_stack", "_value", "_work")

    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self._stack: _Stack | None = None
        self._value: T | None = None

    @property
    def value(self) -> T:
        """What the work returned, once `step` has returned True."""
        return cast(T, self._value)

    def step(self, exhausted: Exhausted) -> bool:
        """Go on until the work is done (True) or the slice is over (False); some of it is done in any case.

        Raises:
            Exception: whatever the work raises.

        """
        stack = self._stack
        if stack is None:
            if self._work is None:
                return True
            stack = self._stack = _stack()
            stack.desk.work, self._work = self._work, None
        desk = stack.desk
        stack.exhausted = exhausted
        stack.parent = desk.caller = getcurrent()
        try:
            stack.switch()
        except BaseException:
            self._stack = None
            raise
        if desk.work is not None:
            return False
        self._value, desk.value = desk.value, None
        _put_back(stack)
        self._stack = None
        return True


class _Desk:
    """What goes in and out of a stack, which must not refer to itself: it could not be dropped."""

    __slots__ = ("caller", "value", "work")
    caller: greenlet

    def __init__(self) -> None:
        self.work: Callable[[], Any] | None = None
        self.value: Any = None


def _clear(desk: _Desk) -> None:
    """Do work after work for ever; a failure ends it, and comes out of the step."""
    while desk.work is not None:
        desk.value = desk.work()  # no local variable: it would keep the value while there is no work
        desk.work = None
        desk.caller.switch()


class _Stack(greenlet):
    """Where work runs, one after the other; `unbroken` counts what is under way that must not be seen half done."""

    exhausted: Exhausted
    ticks = 0
    unbroken = 0

    def __init__(self) -> None:
        self.desk = _Desk()
        super().__init__(partial(_clear, self.desk))


class _Idle(local):
    """Stacks of this thread that wait for work: to make one takes longer than many a piece of work."""

    def __init__(self) -> None:
        self.stacks: list[_Stack] = []


_idle = _Idle()
_MOST_IDLE = 4


def _stack() -> _Stack:
    """Return a stack. Profilers and debuggers see only into those that begin under them."""
    return _idle.stacks.pop() if _idle.stacks and getprofile() is None and gettrace() is None else _Stack()


def _put_back(stack: _Stack) -> None:
    """Keep a stack for other work, unless that would keep the stack alive from which it was called."""
    if stack.desk.caller.parent is None and len(_idle.stacks) < _MOST_IDLE:
        stack.ticks = 0
        del stack.exhausted
        _idle.stacks.append(stack)


def rest() -> None:
    """Pause, if this runs in slices and the slice is over. Long work calls it now and then."""
    current = getcurrent()
    if type(current) is _Stack and not current.unbroken and current.exhausted():
        caller = current.desk.caller
        del current  # a stack that refers to itself could not be dropped
        caller.switch()


def tick() -> None:
    """Note a small piece of work; some of them make a rest."""
    current = getcurrent()
    if type(current) is _Stack:
        current.ticks += 1
        if current.ticks >= TICKS:
            current.ticks = 0
            del current
            rest()


@contextmanager
def unbroken() -> Iterator[None]:
    """Have no rest inside: for work that changes what others use."""
    current = getcurrent()
    if type(current) is not _Stack:
        yield
        return
    current.unbroken += 1
    try:
        yield
    finally:
        current.unbroken -= 1


def paced(items: Sequence[T]) -> Iterable[T]:
    """Return the items for a loop with little work per turn, with a rest now and then."""
    return items if len(items) <= STRIDE else chain.from_iterable(parts(items))


def gathered(*lists: Sequence[T]) -> tuple[T, ...]:
    """Return the elements of some sequences, with a rest now and then where they are many."""
    return tuple(chain.from_iterable(map(paced, lists)))


def parts(items: Any) -> Iterator[Any]:
    """Yield a sequence in pieces, with a rest before each but the first."""
    for start in range(0, len(items), STRIDE):
        if start:
            rest()
        yield items[start : start + STRIDE]
