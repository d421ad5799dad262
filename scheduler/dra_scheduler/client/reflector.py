"""Keeping up with all objects of one kind: list, then watch, whatever the connection does.

                +--- 410, or an error that would come again ---+
                v            (after a random pause)            |
    start --> list --> watch --- ended or cut: resume from --->+
                ^       ^  |     the last resourceVersion      |
                |       +--+<----------------------------------+
                +--- no answer, refused: again after a backoff, one log line

API servers cut watches all the time, so that is no error.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Set
from random import Random

import orjson

from dra_api.clock import Clock
from dra_api.references import RESOURCE_GROUP, Resource
from dra_api.transport import Request, Transport, TransportError, WatchRefusedError
from dra_api.versions import to_v1
from dra_scheduler.client.api import NO_QUERY, Object
from dra_scheduler.client.backoff import Backoff
from dra_scheduler.client.errors import ApiStatusError, ClientError, GoneError, ResponseError, TooManyRequestsError
from dra_scheduler.client.listing import Listing
from dra_scheduler.client.mirror import Handler, Key, Mirror
from dra_scheduler.client.pacer import Pacer
from dra_scheduler.client.status import error_of, error_of_status
from dra_scheduler.client.trouble import TroubleLog

WATCH_SECONDS = (300, 600)
"""How long a watch is asked for, at random in between, so that those of all kinds do not end together."""
RELIST_JITTER = 1.0
"""Seconds at most before listing anew after 410: a restarted API server gets these from all its clients at once."""
RESUME_DELAY = 0.05
"""Seconds at most before resuming a watch that has brought something."""
RETRY_FIRST = 0.1
RETRY_CAP = 10.0
"""Seconds of backoff between tries that bring nothing."""
ASKED_CAP = 60.0
"""Seconds that a server's Retry-After counts for at most."""
GONE_CAP = 60.0
"""Seconds between complete lists when every watch after one fails: a server that forgets so fast, say."""
LONG_ENOUGH = 1.0
"""A watch that lived that many seconds was no failure, even without events."""

log = logging.getLogger(__name__)


class _SpoiltWatchError(ClientError):
    """A watch brought an error, or what is no event, or cannot begin: it would again if resumed from there."""

    def __init__(self, error: ApiStatusError | ResponseError) -> None:
        super().__init__(str(error))
        self.error = error


class Reflector:
    """Hands every change of one kind's objects to a handler (see `mirror.Handler`), as v1 in resource.k8s.io."""

    def __init__(
        self,
        transport: Transport,
        resource: Resource,
        handler: Handler,
        clock: Clock,
        random: Random,
        *,
        version: str | None = None,
        trouble: TroubleLog | None = None,
        keep: Callable[[Object], Object] = lambda obj: obj,
        known: Callable[[Object], bool] = lambda obj: False,
        listed: Callable[[Set[Key], str], None] = lambda present, version: None,
        query: Mapping[str, str] = NO_QUERY,
    ) -> None:
        """`version`: the served one (None: our newest); `keep`, `known`: see Mirror; `query`: selectors.

        `listed` is told of each complete list: which objects there were, as of which resourceVersion.
        """
        self.resource = resource
        self._transport = transport
        self._clock = clock
        self._random = random
        self._trouble = trouble or TroubleLog(clock)
        self.path = resource.path(version=version)
        self._query = query
        self._listed = listed
        self._listing = Listing(transport, resource, self.path, query)
        convert = to_v1 if resource.group == RESOURCE_GROUP else None
        self.mirror = Mirror(resource.kind, handler, convert, keep, known)
        self._resource_version: str | None = None
        self._backoff = Backoff(random, RETRY_FIRST, RETRY_CAP)
        self._gone = Backoff(random, RETRY_FIRST, GONE_CAP)
        self._pacer = Pacer(clock)
        self.synced = asyncio.Event()
        """Set once the first list has been handed on completely; stays set."""
        self.lists = 0
        """Complete lists so far."""
        self.watches = 0
        """Watches opened so far."""
        self.events = 0
        """Changes that watches have brought so far."""

    async def run(self) -> None:
        """Keep up for ever. Raises only what the handler raises beyond `ApiError`."""
        while True:
            delay = await self._round()
            if delay > 0:
                await asyncio.sleep(delay)

    async def _round(self) -> float:
        """List if need be and watch once; returns the seconds to wait before the next round."""
        try:
            if self._resource_version is None:
                await self._list()
            return await self._watch(self._resource_version or "")
        except GoneError:
            log.info("listing anew resource=%s reason=%s", self.resource.plural, "resourceVersion too old")
            self._resource_version = None
            return self._random.random() * RELIST_JITTER + self._gone.delay()
        except _SpoiltWatchError as spoilt:
            self._resource_version = None
            self._trouble.report(self.resource, spoilt.error)
            return max(self._backoff.delay(), self._gone.delay())
        except (ApiStatusError, ResponseError, TransportError) as error:
            self._trouble.report(self.resource, error)
            asked = error.retry_after if isinstance(error, ApiStatusError) else None
            return max(self._backoff.delay(), min(asked or 0.0, ASKED_CAP))

    async def _list(self) -> None:
        present: set[Key] = set()
        resource_version = ""
        async with contextlib.aclosing(self._listing.pages()) as pages:
            async for page in pages:
                if page.first:
                    present.clear()
                    resource_version = page.resource_version
                self._pacer.restart()
                for item in page.items:
                    present.add(self.mirror.put(item))
                    await self._pacer.step()
        for key in self.mirror.missing(present):
            self.mirror.remove(key)
            await self._pacer.step()
        self._listed(present, resource_version)
        self._resource_version = resource_version
        self.lists += 1
        self._backoff.reset()
        self._trouble.recovered(self.resource)
        self.synced.set()

    async def _watch(self, resource_version: str) -> float:
        query = dict(self._query) | {
            "watch": "true",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._random.randint(*WATCH_SECONDS)),
        }
        opened: float | None = None
        try:
            async with self._transport.watch(Request("GET", self.path, query)) as lines:
                opened = self._clock.monotonic()
                self.watches += 1
                self._trouble.recovered(self.resource)
                await self._consume(lines)
        except WatchRefusedError as error:
            refused = error_of(error.response)
            # Of all that is asked only the resourceVersion can be wrong: an API server was set up anew, say.
            raise _SpoiltWatchError(refused) if refused.status == 400 else refused from error
        finally:
            lived = opened is not None and self._clock.monotonic() - opened >= LONG_ENOUGH
            if lived or self._resource_version != resource_version:
                self._backoff.reset()
                self._gone.reset()
        if lived:
            return 0.0
        if self._resource_version != resource_version:
            return self._random.random() * RESUME_DELAY
        return self._backoff.delay()

    async def _consume(self, lines: AsyncIterator[bytes]) -> None:
        """Take in events until the stream ends. Raises GoneError, TooManyRequestsError, _SpoiltWatchError."""
        self._pacer.restart()
        try:
            async for line in lines:
                self._take(line)
                await self._pacer.step()
        except TransportError as error:
            log.debug("watch cut resource=%s error=%s", self.resource.plural, error)
        except (GoneError, TooManyRequestsError):
            raise
        except (ApiStatusError, ResponseError) as error:
            raise _SpoiltWatchError(error) from error

    def _take(self, line: bytes) -> None:
        """Take in one event. Raises ApiStatusError, ResponseError."""
        try:
            event = orjson.loads(line)
            kind, obj = event["type"], event["object"]
            meta = obj.get("metadata") or {}
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ResponseError(f"watch {self.path}: a line is no watch event") from error
        if kind == "ERROR":
            raise error_of_status(obj)
        if kind in ("ADDED", "MODIFIED"):
            self.mirror.put(obj)
            self.events += 1
        elif kind == "DELETED":
            self.mirror.remove((meta.get("namespace") or "", meta.get("name") or ""))
            self.events += 1
        elif kind != "BOOKMARK":
            raise ResponseError(f"watch {self.path}: unknown type of event {kind!r}")
        if meta.get("resourceVersion"):
            self._resource_version = meta["resourceVersion"]
