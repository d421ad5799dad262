"""The finishing line: which pods are bound, and when that was seen, in one watch of all pods."""

from __future__ import annotations

import asyncio
import time

import orjson

from dra_api.transport import Request, Transport, TransportError
from dra_bench.cluster.errors import RaceError, StuckError
from dra_bench.cluster.inventory import PODS

STUCK_SECONDS = 60.0
"""Without a single pod bound for so long, a race is given up."""


class Finish:
    """`bound`: when (seconds, monotonic) each pod was seen bound, by name.

    An async context manager: inside it, pods are watched from the resourceVersion on.
    """

    def __init__(self, transport: Transport, version: str) -> None:
        self.bound: dict[str, float] = {}
        self._transport = transport
        self._version = version
        self._changed = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Finish:
        self._watching = asyncio.create_task(self._follow(self._version))
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
            (result,) = await asyncio.gather(self._watching, return_exceptions=True)
            if isinstance(result, Exception) and exc[0] is None:
                raise result

    async def _follow(self, version: str) -> None:
        """Watch until cancelled; a watch that is cut goes on where it was."""
        while True:
            query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
            try:
                async with self._transport.watch(Request("GET", PODS, query)) as lines:
                    async for line in lines:
                        version = self._see(line) or version
            except TransportError:
                continue

    def _see(self, line: bytes) -> str:
        now = time.monotonic()
        event = orjson.loads(line)
        obj = event["object"]
        if event["type"] == "ERROR":
            raise RaceError(f"the watch of the pods failed: {obj.get('message')}")
        meta = obj["metadata"]
        if event["type"] != "BOOKMARK" and obj["spec"].get("nodeName") and meta["name"] not in self.bound:
            self.bound[meta["name"]] = now
            self._changed.set()
        version: str = meta["resourceVersion"]
        return version

    async def reached(self, count: int) -> None:
        """Wait until so many are bound. Raises StuckError when nothing happens for a minute."""
        while len(self.bound) < count:
            self._changed.clear()
            try:
                async with asyncio.timeout(STUCK_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                raise StuckError(
                    f"{len(self.bound)} of {count} pods are bound, none for {STUCK_SECONDS:.0f} s"
                ) from None

    def pods_per_s(self) -> float:
        """From the first pod bound to the last one."""
        times = sorted(self.bound.values())
        if len(times) < 2 or times[-1] == times[0]:
            raise RaceError("a rate needs at least two pods, bound one after another")
        return (len(times) - 1) / (times[-1] - times[0])
