"""Kubernetes' allocator on the same cluster with the same claims: timed inside the Go process that runs it.

What is timed is one attempt of kube-scheduler without the rest of the scheduler: the allocated state is copied, the
allocator made, and then it allocates on one node after the other. Over *all* nodes; and over the *sample* of
kube-scheduler, which by default stops when it has found as many feasible nodes as a share of all, which is 50 % less
one for each 125 nodes, at least 5 %, and never less than 100. kube-scheduler does this on 16 goroutines; here it has
one core, as we have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dra_bench.allocate import objects
from dra_bench.allocate.errors import PeerError
from dra_bench.allocate.row import percentile
from dra_bench.allocate.scenario import Scenario
from dra_bench.oracle.errors import OracleError, OracleMissingError
from dra_bench.oracle.process import Oracle

JSON = dict[str, Any]
_NODES_PER_LINE = 100
_MAX_ATTEMPTS = 1000
_STRIDE = 7919
_PATIENCE_SECONDS = 60.0
_GATES = dict.fromkeys(
    (
        "AdminAccess",
        "PrioritizedList",
        "PartitionableDevices",
        "DeviceTaints",
        "ConsumableCapacity",
        "DeviceBindingAndStatus",
    ),
    True,
)
"""Those that are on by default in Kubernetes 1.37, as on our side."""


@dataclass(frozen=True, slots=True)
class PeerTimes:
    """Medians in milliseconds, over all nodes and over the sample."""

    all_ms: float
    sample_ms: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure.

    Attributes:
        seconds: for about so long, each way.
        cpu_time: count the time that the process uses on all cores, instead of the time that passes.
        attempt_seconds: an attempt that takes longer is ended and its time so far recorded, so that a ratio is then at
            least what it says.

    """

    seconds: float
    cpu_time: bool = False
    attempt_seconds: float = 30.0


def peer_times(scenario: Scenario, plan: Plan, progress: Callable[[float], None]) -> PeerTimes | None:
    """Measure Kubernetes' allocator; None where it has not been built.

    Raises PeerError if it fails, or comes to another outcome than the scenario says.
    """
    try:
        with Oracle(patience=_PATIENCE_SECONDS + plan.seconds + plan.attempt_seconds) as oracle:
            for done, question in _cluster(scenario):
                oracle.ask({"kind": "benchAdd", **question})
                progress(0.5 * done)
            everywhere = _run(oracle, scenario, plan, 0)
            progress(0.75)
            wanted = nodes_to_find(scenario.size.nodes)
            looks_at_all = wanted == scenario.size.nodes
            return PeerTimes(everywhere, everywhere if looks_at_all else _run(oracle, scenario, plan, wanted))
    except OracleMissingError:
        return None
    except OracleError as error:
        raise PeerError(f"Kubernetes' allocator: {error}") from error


def nodes_to_find(nodes: int) -> int:
    """Return how many feasible nodes kube-scheduler looks for by default (percentageOfNodesToScore 0)."""
    if nodes < 100:
        return nodes
    return max(100, nodes * max(5, 50 - nodes // 125) // 100)


def _cluster(scenario: Scenario) -> Iterator[tuple[float, JSON]]:
    """Yield the cluster in parts that fit a line, each with the part that is done with it."""
    yield 0.0, {"reset": True, "classes": list(scenario.classes), **_allocated(scenario)}
    slices = scenario.ruled_slices or scenario.slices
    for first in range(0, scenario.size.nodes, _NODES_PER_LINE):
        numbers = range(first, min(first + _NODES_PER_LINE, scenario.size.nodes))
        part = [one for number in numbers for one in slices(number)]
        yield numbers.stop / scenario.size.nodes, {"nodes": [objects.node(one) for one in numbers], "slices": part}


def _allocated(scenario: Scenario) -> JSON:
    holds = [hold for claim in scenario.holds for hold in claim]
    shares = [hold.entry() for hold in holds if hold.share is not None]
    return {
        "allocatedDevices": [hold.entry() for hold in holds if hold.share is None],
        "allocatedSharedDeviceIDs": shares,
        "aggregatedCapacity": shares,
    }


def _run(oracle: Oracle, scenario: Scenario, plan: Plan, feasible: int) -> float:
    """Return the median duration of attempts that look for so many feasible nodes, 0: on all."""
    answer = oracle.ask(
        {
            "kind": "benchRun",
            "features": _GATES,
            "claims": _told_apart(scenario.claims),
            "feasible": feasible,
            "stride": _STRIDE,
            "maxAttempts": _MAX_ATTEMPTS,
            "totalMs": int(plan.seconds * 1000),
            "attemptMs": int(plan.attempt_seconds * 1000),
            "cpuTime": plan.cpu_time,
        }
    )
    if "error" in answer:
        raise PeerError(f"Kubernetes' allocator: {answer['error']}")
    if not answer["deadline"] and (answer["found"] > 0) != scenario.fits:
        raise PeerError(f"Kubernetes' allocator finds {answer['found']} nodes, expected {scenario.fits}")
    return percentile(answer["durationsMs"], 50)


def _told_apart(claims: tuple[JSON, ...]) -> list[JSON]:
    """Return the claims under names and UIDs of their own."""
    found = []
    for number, claim in enumerate(claims):
        name = f"claim-{number}"
        found.append({**claim, "metadata": {**claim["metadata"], "name": name, "uid": name}})
    return found
