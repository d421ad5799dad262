"""Our side: a scenario in the engine's table and ledger, and decisions on it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import orjson

from dra_allocator.allocator import Allocator
from dra_allocator.claim import ResourceClaim
from dra_allocator.features import Features
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import Allocation, Outcome
from dra_allocator.rejection import Rejection
from dra_allocator.table import Table
from dra_allocator.view import View
from dra_api import decode
from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Hold, Scenario

JSON = dict[str, Any]
SLICE_SECONDS = 0.005
"""How long one step of a decision may take, as in the scheduler."""


class Slice:
    """A budget of one step."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = time.perf_counter() + SLICE_SECONDS

    def exhausted(self) -> bool:
        """Return whether the step should end."""
        return time.perf_counter() >= self._end


class World:
    """The engine with a scenario loaded.

    Attributes:
        load_seconds: from the bytes of the API objects to a table that is ready: decoding, applying, catching up.

    """

    def __init__(self, scenario: Scenario, lines: Iterable[bytes] | None = None) -> None:
        """`lines`: the slices as JSON, from elsewhere; None: the scenario makes them one by one."""
        self.scenario = scenario
        self.table, self.ledger = Table(), Ledger()
        self.allocator = Allocator(share_ids=lambda: str(uuid4()))
        self.features = Features()
        self.load_seconds = 0.0
        self._load(_lines(scenario) if lines is None else lines)
        self.held = self._hold()
        ids = np.arange(len(self.table.nodes), dtype=np.int32)
        self._order = np.concatenate([ids, ids])
        self._claims = [decode.resource_claim(claim) for claim in scenario.claims]

    def claims(self, number: int) -> tuple[ResourceClaim, ...]:
        """Return the claims of pod `number`: those of the scenario under names of their own."""
        return tuple(
            replace(claim, uid=f"{number}-{at}", name=f"claim-{number}-{at}") for at, claim in enumerate(self._claims)
        )

    def decide(self, claims: tuple[ResourceClaim, ...], first_node: int) -> Outcome:
        """Decide and, if the claims fit, assume: a decision from the claims to the ledger.

        All nodes are given, from the one with number `first_node` on.
        """
        start = first_node % len(self.table.nodes)
        nodes = self._order[start : start + len(self.table.nodes)]
        attempt = self.allocator.allocate(self.view(), claims, nodes)
        outcome = attempt.step(Slice())
        while outcome is None:
            outcome = attempt.step(Slice())
        if isinstance(outcome, Allocation):
            for one in outcome.claims:
                self.ledger.assume(one.claim_uid, one.result)
        elif self.scenario.explained and isinstance(outcome, Rejection):
            outcome.explain()
        return outcome

    def view(self) -> View:
        """Return a view of what there is now."""
        return View(self.table, self.ledger, self.features)

    def release(self, uid: str) -> None:
        """Let a claim be gone."""
        self.ledger.forget(uid)
        self.ledger.observe(uid, None)

    def _load(self, lines: Iterable[bytes]) -> None:
        for device_class in self.scenario.classes:
            self.table.apply_class(decode.device_class(device_class))
        for rule in self.scenario.rules:
            self.table.apply_taint_rule(decode.taint_rule(rule))
        for number in range(self.scenario.size.nodes):
            self.table.apply_node(decode.node(objects.node(number)))
        for line in lines:
            started = time.perf_counter()
            self.table.apply_slice(decode.resource_slice(orjson.loads(line)))
            self.load_seconds += time.perf_counter() - started
        started = time.perf_counter()
        view = self.view()
        view.usability.states()
        view.occupancy.states()
        self.load_seconds += time.perf_counter() - started

    def _hold(self) -> list[str]:
        """Note what is held at first; return the claims."""
        for number, holds in enumerate(self.scenario.holds):
            self.ledger.observe(f"held-{number}", decode.allocation_result(status(holds)))
        return [f"held-{number}" for number in range(len(self.scenario.holds))]


def status(holds: tuple[Hold, ...]) -> JSON:
    """Return the allocation of a claim that holds these devices."""
    return {"devices": {"results": [hold.entry() for hold in holds]}}


def _lines(scenario: Scenario) -> Iterator[bytes]:
    for one in scenario.all_slices():
        yield orjson.dumps(one)
