"""The scheduler put together.

    transport --reflectors--> cluster --events--> queue --pop--> cycle --Bind--> bind tasks --writers--> transport
                                                    ^               +--Reject--> reports       |
                                                    +------------- again ----------------------+

One event loop, one process. All state is in `cluster` and `queue`, and all of it can be made again from the API server:
a scheduler that ends in any way is continued by the next one.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from dataclasses import replace
from random import Random

from dra_allocator.allocator import Allocator
from dra_api.clock import Clock
from dra_api.transport import Transport
from dra_scheduler.binding import Binder
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import Served, discover, pod_group_version
from dra_scheduler.client.reflector import Reflector
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.feed import quota_reflector, reflectors
from dra_scheduler.gang.group_cycle import GroupCycle
from dra_scheduler.gang.rules import GROUPS
from dra_scheduler.gang.work import GroupWork
from dra_scheduler.intake import Intake
from dra_scheduler.loop import Counts, ScheduleLoop
from dra_scheduler.pending import PendingPod, pending_pods
from dra_scheduler.queue.entry import Place
from dra_scheduler.queue.hints import Hints
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.quota_watch import QuotaWatch
from dra_scheduler.report.narrator import Narrator
from dra_scheduler.report.reporter import Reporter
from dra_scheduler.report.waiting import WaitingReporter
from dra_scheduler.settings import Settings
from dra_scheduler.signals import Signals
from dra_scheduler.special_claims import SpecialClaims
from dra_scheduler.supervision import Supervisor
from dra_scheduler.survey.gates import read_gates
from dra_scheduler.writes.binding_writer import BindingWriter
from dra_scheduler.writes.claim_writer import ClaimWriter
from dra_scheduler.writes.condition_writer import ConditionWriter
from dra_scheduler.writes.event_writer import EventWriter
from dra_scheduler.writes.group_condition_writer import GroupConditionWriter
from dra_scheduler.writes.pod_status_writer import PodStatusWriter
from dra_scheduler.writes.special_claims import SpecialClaimWriter

__all__ = ["PendingPod", "Scheduler"]

_log = logging.getLogger(__name__)
_BUSY = (Place.ACTIVE, Place.BACKOFF, Place.IN_FLIGHT)


class Scheduler:
    """Schedules the pods of one cluster until it is told to stop. `ready`: all caches are filled.

    `may_write` is asked before every write; it is the guard of whoever decides which of several processes may act.
    """

    def __init__(
        self,
        transport: Transport,
        settings: Settings,
        clock: Clock,
        random: Random,
        *,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self._transport = transport
        self._settings = settings
        self._clock = clock
        self._random = random
        self._may_write = may_write
        self._supervisor = Supervisor()
        self._signals = Signals()
        gates = FeatureGates.of(settings.feature_gates, NEWEST_MINOR)
        self.cluster = Cluster(gates.features(), gates)
        intake = Intake(self.cluster, settings.scheduler_names, self._signals)
        self.queue = SchedulingQueue(clock, settings, intake.gate, Hints(intake.claims_problem))
        intake.connect(self.queue)
        self._intake = intake
        self._loop: ScheduleLoop | None = None
        self.ready = False
        self.filled = asyncio.Event()
        """Set once all caches are filled for the first time; stays set."""
        self.reflectors: list[Reflector] = []
        """What keeps the caches up to date, once the scheduler runs."""
        self.background_writers: dict[str, EventWriter | ConditionWriter | GroupConditionWriter] = {}
        """What is written in the background, by name."""

    async def run(self, stop: asyncio.Event) -> None:
        """Schedule until `stop` is set; then finish the writes under way, within the grace of the settings.

        Raises NoResourceApiError if the cluster has no Dynamic Resource Allocation, ClientError and TransportError if
        it cannot be asked, and TaskDiedError if a part of the scheduler failed.
        """
        api = Api(self._transport)
        served = await discover(api)
        _log.info("connected server=%s resource.k8s.io=%s", served.git_version, served.resource_version)
        said = await read_gates(self._transport)
        _log.info("feature gates are those of the server's %s", "version" if said is None else "metrics")
        self.cluster.use(FeatureGates.of(self._settings.feature_gates, served.server.minor, said))
        if self.cluster.gates.enabled(GROUPS):
            served = replace(served, pod_group_version=await pod_group_version(api))
        self._supervisor.for_ever("scheduling", self._work(api, served))
        stopping = asyncio.create_task(stop.wait(), name="stop")
        failing = asyncio.create_task(self._supervisor.failure(), name="failure")
        try:
            await asyncio.wait({stopping, failing}, return_when=asyncio.FIRST_COMPLETED)
            if not failing.done() and self._loop is not None:
                await self._loop.stop(self._settings.stop_grace)
        finally:
            self.ready = False
            stopping.cancel()
            failing.cancel()
            await asyncio.gather(stopping, failing, return_exceptions=True)
            await self._supervisor.cancel()
        self._supervisor.raise_failure()

    @property
    def counts(self) -> Counts:
        """What became of the attempts so far."""
        return self._loop.counts if self._loop is not None else Counts()

    def pending(self) -> list[PendingPod]:
        """Return the pods that are not scheduled, with the reasons."""
        return pending_pods(self.queue, self._loop, self.cluster.claims)

    def idle(self) -> bool:
        """Whether nothing is left to try, and nothing is on its way to the API server."""
        failing = self.queue.count(Place.ERROR_BACKOFF)
        return self.at_rest() and not failing and (self._loop is None or self._loop.idle())

    def at_rest(self) -> bool:
        """Whether no pod gets further by itself: none is to be tried, backs off or is being bound.

        Pods that fail by an error count as at rest, though each is tried, and reported, for as long as it lives.
        """
        tried = self.queue.moving or self.queue.count(*_BUSY)
        return self.ready and not tried and (self._loop is None or not self._loop.binding)

    async def _work(self, api: Api, served: Served) -> None:
        """Start everything, wait for the caches, schedule for ever."""
        loop = self._loop = self._assemble(api, served)
        loop.quotas = QuotaWatch(self._watch_quotas)
        fed = self.reflectors = reflectors(self._transport, served, self.cluster, self._clock, self._random)
        for reflector in fed:
            self._supervisor.for_ever(f"reflector {reflector.resource.plural}", reflector.run())
        await asyncio.gather(*(reflector.synced.wait() for reflector in fed))
        self.ready = True
        self.filled.set()
        known = self.cluster
        _log.info("ready nodes=%d pods=%d claims=%d", len(known.nodes), len(known.pods), len(known.claims))
        await loop.run()

    def _assemble(self, api: Api, served: Served) -> ScheduleLoop:
        clock, random, may_write, settings = self._clock, self._random, self._may_write, self._settings
        events = EventWriter(
            api, clock, random, controller=settings.scheduler_names[0], instance=settings.instance, may_write=may_write
        )
        conditions = ConditionWriter(api, clock, random, may_write)
        self._supervisor.for_ever("event writer", events.run())
        self._supervisor.for_ever("condition writer", conditions.run())
        self.background_writers = {"events": events, "conditions": conditions}
        reporter = self._intake.reporter = self._reporter(events, conditions)
        claims = ClaimWriter(api, served, clock, random, may_write, seen=self.cluster.learn_claim)
        pods = PodStatusWriter(api, random, may_write)
        binder = Binder(
            self.cluster,
            claims,
            BindingWriter(api, random, may_write),
            conditions,
            special=SpecialClaims(self.cluster, claims, SpecialClaimWriter(api, served, random, may_write), pods),
            pods=pods,
            signals=self._signals,
            clock=clock,
            settings=settings,
        )
        allocator = Allocator(mask_bytes=settings.mask_bytes, share_ids=self._share_id)
        cycle = Cycle(self.cluster, allocator, settings, clock, random)
        groups = self._intake.groups = self._groups(
            api, served, binder, GroupCycle(self.cluster, cycle, allocator, settings, clock)
        )
        return ScheduleLoop(
            cluster=self.cluster,
            queue=self.queue,
            cycle=cycle,
            binder=binder,
            reporter=reporter,
            supervisor=self._supervisor,
            max_in_flight=settings.max_in_flight,
            groups=groups,
        )

    def _watch_quotas(self) -> Reflector:
        reflector = quota_reflector(self._transport, self.cluster, self._clock, self._random)
        self._supervisor.for_ever(f"reflector {reflector.resource.plural}", reflector.run())
        return reflector

    def _reporter(self, events: EventWriter, conditions: ConditionWriter) -> Reporter:
        narrator = Narrator(self._clock, self._supervisor.once, self._settings.slice)
        reporter = Reporter(events, conditions, self.cluster.claims, narrator, self._clock)
        waiting = WaitingReporter(self.queue, self.cluster.claims, reporter, self._clock, self.filled)
        self._supervisor.for_ever("reports on waiting pods", waiting.run())
        return reporter

    def _groups(self, api: Api, served: Served, binder: Binder, cycle: GroupCycle) -> GroupWork | None:
        """Return what schedules PodGroups, None if the server has none or the gate is off."""
        version = served.pod_group_version
        if version is None:
            return None
        conditions = GroupConditionWriter(api, version, self._clock, self._random, may_write=self._may_write)
        self._supervisor.for_ever("group condition writer", conditions.run())
        self.background_writers["group conditions"] = conditions
        names = self._settings.scheduler_names
        return GroupWork(
            self.cluster,
            self.queue,
            cycle,
            binder,
            conditions=conditions,
            signals=self._signals,
            clock=self._clock,
            names=names,
        )

    def _share_id(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
