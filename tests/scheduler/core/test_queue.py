import asyncio
from collections.abc import Callable

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dra_allocator.ledger import Ledger
from dra_embedded.virtual_time import VirtualClock, VirtualTimeLoop
from dra_scheduler.cache.claim_store import ClaimChange, ClaimStore
from dra_scheduler.cache.node_info import node_info
from dra_scheduler.cache.pod_info import PodInfo, pod_info
from dra_scheduler.plugins import Plugin
from dra_scheduler.queue.entry import Place
from dra_scheduler.queue.events import ClaimChanged, DevicesChanged, MemberAdded, NodeChanged, PodLeft
from dra_scheduler.queue.hints import Hints
from dra_scheduler.queue.scheduling_queue import SchedulingQueue
from dra_scheduler.settings import Settings
from support.fake_clock import START, FakeClock
from support.objects import make_claim, make_node, make_pod

NEW_NODE = NodeChanged(None, node_info(make_node("n")))
SLICE = DevicesChanged("slice")


def no_gate(pod: PodInfo) -> tuple[Plugin, str] | None:
    return ("SchedulingGates", "gated") if pod.gates else None


def make_queue(clock: FakeClock, gate: Callable[[PodInfo], tuple[Plugin, str] | None] = no_gate) -> SchedulingQueue:
    return SchedulingQueue(clock, Settings(), gate, Hints(lambda pod: ""))


def pod(name: str, **more: object) -> PodInfo:
    return pod_info(make_pod(name, **more))  # type: ignore[arg-type]


def popped(queue: SchedulingQueue) -> str | None:
    entry = queue.pop_now()
    return None if entry is None else entry.pod.name


def test_the_highest_priority_comes_first_and_then_who_waits_longest() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    for name, priority in (("old", 0), ("young", 0), ("urgent", 5)):
        queue.add(pod(name, priority=priority))
        clock.advance(1)
    assert [popped(queue) for _ in range(4)] == ["urgent", "old", "young", None]


def test_nothing_is_kept_for_a_pod_that_waits_for_its_devices_however_much_happens_meanwhile() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    for name in ("waits", "tried"):
        queue.add(pod(name))
        popped(queue)
    queue.waits("uid-waits")
    for _ in range(10):
        queue.happened(SLICE)
    queue.retry("uid-tried", "", error=False)
    assert queue.events_kept == 0
    queue.reject("uid-waits", frozenset({"DynamicResources"}), "no devices")
    entry = queue.get("uid-waits")
    assert entry is not None
    assert entry.place is Place.BACKOFF


def test_a_pod_that_was_changed_while_it_was_tried_is_tried_again() -> None:
    queue = make_queue(FakeClock())
    queue.add(pod("p"))
    popped(queue)
    queue.add(pod("p", tolerations=[{"key": "dedicated", "operator": "Exists"}]))
    queue.reject("uid-p", frozenset({"TaintToleration"}), "tainted nodes")
    entry = queue.get("uid-p")
    assert entry is not None
    assert entry.place is Place.BACKOFF
    popped(queue)
    queue.reject("uid-p", frozenset({"TaintToleration"}), "tainted nodes")
    assert entry.place is Place.UNSCHEDULABLE


def test_a_gated_pod_learns_that_its_own_claim_lost_its_allocation() -> None:
    problem = "its status cannot be read"

    def gate(pod: PodInfo) -> tuple[Plugin, str] | None:
        return ("DynamicResources", problem) if problem else None

    queue = make_queue(FakeClock(), gate)
    queue.add(pod("p", claims=[{"name": "gpu", "resourceClaimName": "c"}]))
    assert popped(queue) is None
    claims = ClaimStore(Ledger())
    change = claims.observe(make_claim("c"))
    assert change is not None
    problem = ""
    queue.happened(ClaimChanged(ClaimChange(change.claim, freed=True, status=True)))
    assert popped(queue) == "p"


def test_a_rejected_pod_waits_for_an_event_that_may_help_its_plugins() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p"))
    popped(queue)
    queue.reject("uid-p", frozenset({"DynamicResources"}), "no devices")
    queue.happened(PodLeft(pod("other", node="n")))
    clock.advance(20)
    assert popped(queue) is None
    queue.happened(SLICE)
    assert popped(queue) == "p"


def test_an_event_during_the_attempt_is_not_lost() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p"))
    popped(queue)
    queue.happened(SLICE)
    queue.reject("uid-p", frozenset({"DynamicResources"}), "no devices")
    entry = queue.get("uid-p")
    assert entry is not None
    assert entry.place is Place.BACKOFF


def test_events_before_the_attempt_do_not_count() -> None:
    queue = make_queue(FakeClock())
    for name in ("first", "p"):
        queue.add(pod(name))
    popped(queue)
    queue.happened(SLICE)
    popped(queue)
    queue.reject("uid-p", frozenset({"DynamicResources"}), "no devices")
    assert popped(queue) is None


def test_backoff_doubles_from_one_second_to_ten() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p"))
    waited = []
    for _ in range(6):
        assert popped(queue) == "p"
        queue.retry("uid-p", "error", error=True)
        seconds = 0
        while queue.pop_now() is None:
            clock.advance(1)
            seconds += 1
        waited.append(seconds)
        queue.retry("uid-p", "error", error=True)
        clock.advance(10)
    assert waited == [1, 4, 10, 10, 10, 10]


def test_a_pod_in_backoff_is_taken_early_while_nothing_else_is_to_be_done_but_not_after_an_error() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    for name in ("rejected", "failed"):
        queue.add(pod(name))
    popped(queue)
    popped(queue)
    queue.retry("uid-rejected", "conflict", error=False)
    queue.retry("uid-failed", "error", error=True)
    assert [popped(queue), popped(queue)] == ["rejected", None]
    clock.advance(1)
    assert popped(queue) == "failed"


def test_a_pod_is_tried_again_when_what_it_requires_of_nodes_changes() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p"))
    popped(queue)
    queue.reject("uid-p", frozenset({"NodeDeclaredFeatures"}), "no node")
    clock.advance(20)
    queue.add(pod("p", ephemeralContainers=[{"name": "debug"}]))
    assert popped(queue) is None
    mounts = [{"name": "v", "mountPath": "/v", "bindMountOptions": ["nodev"]}]
    queue.add(pod("p", ephemeralContainers=[{"name": "debug", "volumeMounts": mounts}]))
    assert popped(queue) == "p"


def test_nothing_happens_for_five_minutes_and_the_pod_is_tried_again() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p"))
    popped(queue)
    queue.reject("uid-p", frozenset({"NodeAffinity"}), "no node")
    clock.advance(299)
    assert popped(queue) is None
    clock.advance(1)
    assert popped(queue) == "p"


def test_an_event_that_may_help_thousands_does_not_hold_the_event_loop_and_helps_all() -> None:
    asked = []

    def problem(waiting: PodInfo) -> str:
        asked.append(waiting.name)
        return ""

    clock = FakeClock()
    queue = SchedulingQueue(clock, Settings(), no_gate, Hints(problem))
    for number in range(2000):
        queue.add(pod(f"p{number}"))
    for number in range(2000):
        assert popped(queue) == f"p{number}"
        queue.reject(f"uid-p{number}", frozenset({"DynamicResources"}), "no devices")
    clock.advance(20)
    queue.happened(SLICE)
    assert queue.moving
    assert len(asked) < 300
    assert {popped(queue) for _ in range(2000)} == {f"p{number}" for number in range(2000)}
    assert not queue.moving


def test_a_gated_pod_is_not_tried_until_its_gates_are_gone() -> None:
    queue = make_queue(FakeClock())
    queue.add(pod("p", schedulingGates=[{"name": "quota"}]))
    queue.happened(NEW_NODE)
    assert popped(queue) is None
    queue.add(pod("p"))
    assert popped(queue) == "p"


def test_what_begins_to_gate_a_pod_in_backoff_keeps_it_from_being_taken_early() -> None:
    gated: set[str] = set()
    queue = make_queue(FakeClock(), lambda pod: ("GangScheduling", "its group is gone") if pod.name in gated else None)
    for name in ("p", "q"):
        queue.add(pod(name))
        popped(queue)
        queue.retry(f"uid-{name}", "", error=False)
    gated.add("p")
    assert [popped(queue), popped(queue)] == ["q", None]
    assert queue.count(Place.GATED) == 1


def test_the_pods_of_a_group_are_taken_together_except_those_that_are_gated_or_on_their_way() -> None:
    queue = make_queue(FakeClock())
    group = {"schedulingGroup": {"podGroupName": "g"}}
    queue.add(pod("flying", **group))
    popped(queue)
    queue.add(pod("waiting", **group))
    popped(queue)
    queue.reject("uid-waiting", frozenset({"GangScheduling"}), "too few")
    queue.add(pod("gated", schedulingGates=[{"name": "gate"}], **group))
    queue.add(pod("other"))
    queue.add(pod("new", priority=1, **group))
    first = queue.pop_now()
    assert first is not None
    assert [entry.pod.name for entry in queue.take_group(first)] == ["waiting", "new"]
    assert queue.count(Place.IN_FLIGHT) == 3
    assert popped(queue) == "other"


def test_a_new_pod_of_a_group_moves_those_that_wait_for_more() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    for name, group in (("a", "g"), ("b", "h")):
        queue.add(pod(name, schedulingGroup={"podGroupName": group}))
        popped(queue)
        queue.reject(f"uid-{name}", frozenset({"GangScheduling"}), "too few")
    clock.advance(20)
    queue.happened(MemberAdded(pod("c", schedulingGroup={"podGroupName": "g"})))
    assert [popped(queue), popped(queue)] == ["a", None]


def test_a_pod_that_waits_for_its_claim_moves_when_the_claim_appears() -> None:
    store = ClaimStore(Ledger())

    def gate(waiting: PodInfo) -> tuple[Plugin, str] | None:
        return None if store.get("default", "c") else ("DynamicResources", "no claim")

    queue = make_queue(FakeClock(), gate)
    queue.add(pod("p", claims=[{"name": "c", "resourceClaimName": "c"}]))
    assert popped(queue) is None
    change = store.observe(make_claim("c"))
    assert change is not None
    queue.happened(ClaimChanged(change))
    assert popped(queue) == "p"


def test_a_change_of_another_claim_moves_only_if_it_freed_devices() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p", claims=[{"name": "c", "resourceClaimName": "c"}]))
    popped(queue)
    queue.reject("uid-p", frozenset({"DynamicResources"}), "no devices")
    store = ClaimStore(Ledger())
    change = store.observe(make_claim("other"))
    assert change is not None
    queue.happened(ClaimChanged(change))
    assert popped(queue) is None
    queue.happened(ClaimChanged(ClaimChange(change.claim, freed=True)))
    assert popped(queue) == "p"


def test_our_own_condition_does_not_move_a_pod_but_a_changed_spec_does() -> None:
    clock = FakeClock()
    queue = make_queue(clock)
    queue.add(pod("p"))
    popped(queue)
    queue.reject("uid-p", frozenset({"NodeAffinity"}), "no node")
    clock.advance(2)
    queue.add(pod("p"))
    assert popped(queue) is None
    queue.add(pod("p", tolerations=[{"operator": "Exists"}]))
    assert popped(queue) == "p"


def test_a_removed_pod_is_never_returned() -> None:
    queue = make_queue(FakeClock())
    queue.add(pod("p"))
    queue.remove("uid-p")
    assert popped(queue) is None
    queue.add(pod("q"))
    popped(queue)
    queue.remove("uid-q")
    queue.retry("uid-q", "conflict", error=False)
    assert popped(queue) is None
    assert len(queue) == 0


def test_pop_wakes_up_when_a_backoff_ends_and_when_a_pod_is_added() -> None:
    loop = VirtualTimeLoop()

    async def main() -> tuple[list[str], float]:
        clock = VirtualClock(loop, START)
        queue = SchedulingQueue(clock, Settings(), no_gate, Hints(lambda pod: ""))
        queue.add(pod("p"))
        names = [(await queue.pop()).pod.name]
        queue.retry("uid-p", "error", error=True)
        begin = clock.monotonic()
        names.append((await queue.pop()).pod.name)
        waited = clock.monotonic() - begin
        loop.call_later(5, queue.add, pod("q"))
        names.append((await queue.pop()).pod.name)
        return names, waited

    assert loop.run(main()) == (["p", "p", "q"], pytest.approx(1.0))


def test_a_cancellation_is_not_lost_when_a_pod_comes_at_the_same_moment() -> None:
    loop = VirtualTimeLoop()

    async def main() -> bool:
        queue = SchedulingQueue(VirtualClock(loop, START), Settings(), no_gate, Hints(lambda pod: ""))
        queue.add(pod("waits"))
        await queue.pop()
        queue.reject("uid-waits", frozenset({"NodeAffinity"}), "no node")
        popping = asyncio.create_task(queue.pop())
        await asyncio.sleep(1)
        queue.add(pod("p", schedulingGates=[{"name": "g"}]))
        await asyncio.sleep(0)
        popping.cancel()
        await asyncio.wait({popping}, timeout=1)
        return popping.cancelled()

    assert loop.run(main())


class QueueMachine(RuleBasedStateMachine):
    """Whatever happens: each pod is in one place, and no event that may help is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.queue = make_queue(self.clock)
        self.in_flight: dict[str, bool] = {}
        self.parked: set[str] = set()
        self.live: set[str] = set()
        self.gated: dict[str, bool] = {}

    names = st.sampled_from(["a", "b", "c", "d"])

    @rule(name=names, gates=st.booleans())
    def add(self, name: str, gates: bool) -> None:
        more = {"schedulingGates": [{"name": "g"}]} if gates else {}
        self.queue.add(pod(name, **more))
        self.live.add(name)
        if name in self.in_flight and gates != self.gated[name]:
            # What is being decided is not the pod that it is now: a reason to try again, like a helping event.
            self.in_flight[name] = True
        self.gated[name] = gates
        # A change of gates may have moved it.
        self.parked = {n for n in self.parked if self.place(n) is Place.UNSCHEDULABLE}

    @rule(name=names)
    def remove(self, name: str) -> None:
        self.queue.remove(f"uid-{name}")
        self.parked.discard(name)
        self.live.discard(name)
        self.in_flight.pop(name, None)

    @rule()
    def pop(self) -> None:
        entry = self.queue.pop_now()
        if entry is not None:
            assert entry.pod.name in self.live
            assert entry.pod.name not in self.in_flight
            assert entry.pod.name not in self.parked
            self.in_flight[entry.pod.name] = False

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.in_flight)))
        helped = self.in_flight.pop(name)
        self.queue.reject(f"uid-{name}", frozenset({"DynamicResources"}), "no")
        assert self.place(name) is (Place.BACKOFF if helped else Place.UNSCHEDULABLE)
        if not helped:
            self.parked.add(name)

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data(), error=st.booleans())
    def retry(self, data: st.DataObject, error: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.in_flight)))
        del self.in_flight[name]
        self.queue.retry(f"uid-{name}", "again", error=error)

    @rule()
    def helping_event(self) -> None:
        self.queue.happened(SLICE)
        for name in self.in_flight:
            self.in_flight[name] = True
        for name in self.parked:
            assert self.place(name) is not Place.UNSCHEDULABLE
        self.parked.clear()

    @rule()
    def other_event(self) -> None:
        self.queue.happened(PodLeft(pod("z", node="n")))
        for name in self.parked:
            assert self.place(name) is Place.UNSCHEDULABLE

    @rule(seconds=st.sampled_from([0.5, 3.0, 15.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def every_pod_is_in_one_place(self) -> None:
        assert {entry.pod.name for entry in self.queue} == self.live
        assert self.queue.count(Place.IN_FLIGHT) == len(self.in_flight)

    def place(self, name: str) -> Place | None:
        entry = self.queue.get(f"uid-{name}")
        return None if entry is None else entry.place

    def teardown(self) -> None:
        """In the end everything that is not gated comes out."""
        for name in list(self.in_flight):
            self.queue.retry(f"uid-{name}", "again", error=True)
        self.clock.advance(400)
        out = set()
        while (entry := self.queue.pop_now()) is not None:
            out.add(entry.pod.name)
        gated = {n for n in self.live if self.place(n) is Place.GATED}
        assert out | gated == self.live


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = hypothesis_settings(max_examples=60, stateful_step_count=30, deadline=None)
