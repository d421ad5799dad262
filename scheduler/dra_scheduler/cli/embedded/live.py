"""Showing a running cluster on a terminal until something ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from dra_api.clock import Clock
from dra_scheduler.cli.embedded.colors import Colors
from dra_scheduler.cli.embedded.picture import picture
from dra_scheduler.cli.embedded.running import Running
from dra_scheduler.cli.embedded.scene import Watched

FRAME = 0.2
"""Seconds between two pictures."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that Ctrl-C, SIGTERM and a closed terminal set, so that whatever is open is closed in order."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


@asynccontextmanager
async def watching(running: Running, clock: Clock) -> AsyncIterator[Watched]:
    """The cluster's objects, kept up to date as long as the context lasts."""
    watched = Watched(running, clock)
    async with _background(running, watched.run(), "the picture's watches"):
        await running.unless_stopped(watched.synced())
        yield watched


class Screen:
    """Draws the cluster on a terminal; `footer`: lines below the picture."""

    def __init__(self, console: Console, running: Running, watched: Watched, footer: Sequence[str] = ()) -> None:
        self._console = console
        self._running = running
        self._watched = watched
        self._footer = footer
        self._colors = Colors()

    def frame(self, *, whole: bool = True) -> RenderableType:
        """The picture now: cut to the terminal's height, or whole."""
        size = self._console.size
        lines = Text("\n".join(self._footer), overflow="fold")
        below = len(lines.wrap(self._console, size.width)) + 1 if self._footer else 0
        height = None if whole else max(size.height - below - 1, 1)
        shown = picture(self._watched.scene(), self._colors, size.width, height)
        return Group(shown, Text(), lines) if self._footer else shown

    @asynccontextmanager
    async def live(self) -> AsyncIterator[None]:
        """Draw again and again as long as the context lasts; without a footer the last picture, a whole one, stays."""
        with Live(self.frame(whole=False), console=self._console, auto_refresh=False, transient=True) as live:
            async with _background(self._running, self._draw(live), "the picture"):
                yield
        if not self._footer:
            self._console.print(self.frame())

    async def _draw(self, live: Live) -> None:
        while True:
            live.update(self.frame(whole=False), refresh=True)
            await asyncio.sleep(FRAME)


@asynccontextmanager
async def _background(running: Running, work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Do something beside; whoever waits through `running.unless_stopped` learns of its error."""
    task = asyncio.create_task(work, name=name)
    running.tasks.append(task)
    try:
        yield
    finally:
        running.tasks.remove(task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
