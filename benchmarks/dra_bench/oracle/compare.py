"""Outcomes of an attempt, Kubernetes', ours and the model's, in a form in which equal means equal."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import orjson

from dra_allocator.outcome import Allocation, OutOfBudget
from dra_allocator.rejection import Rejection
from dra_api import encode
from dra_api.errors import DecodeError
from dra_bench.conformance.allocator_case import allocate
from dra_bench.oracle.errors import OraclePanicError
from dra_bench.oracle.model.amounts import amount
from dra_bench.oracle.model.attempt import MOST_STEPS, TooManyStepsError, attempt
from dra_bench.oracle.model.bugs import Bug
from dra_bench.oracle.process import Oracle

JSON = dict[str, Any]
PANIC = "panic"
"""The outcome where Kubernetes' allocator panics."""
OUR_SECONDS = 2.0
"""Our engine's CPU time for one attempt: as much as Kubernetes has, whatever else the machine has to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How an attempt ended: results, none, error; deadline (Kubernetes), crash, too slow (ours), unknown (the model).

    `results` is canonical JSON text, devices in their order; `detail` is an error's text, which is not compared.
    """

    outcome: str
    results: str = ""
    detail: str = ""

    def same(self, other: Answer) -> bool:
        """Whether both are equal but for error texts."""
        return (self.outcome, self.results) == (other.outcome, other.results)

    def __str__(self) -> str:
        return self.outcome + (f" {self.results or self.detail}" if self.results or self.detail else "")


def kubernetes(oracle: Oracle, cluster: JSON, allocator: str = "experimental") -> Answer:
    """Ask Kubernetes' allocator."""
    try:
        answer = oracle.ask({"kind": "allocate", "allocator": allocator, **cluster})
    except OraclePanicError as error:
        return Answer(PANIC, detail=str(error).splitlines()[0])
    return _answer(answer)


def ours(cluster: JSON) -> Answer:
    """Run our allocator. An exception that is no part of its contract is the outcome `crash`."""
    copied = orjson.loads(orjson.dumps(cluster))
    try:
        outcome, uids = allocate(copied, Deadline(OUR_SECONDS))
    except DecodeError as error:
        return Answer("error", detail=str(error))
    except Exception:
        return Answer("crash", detail=traceback.format_exc())
    if isinstance(outcome, Rejection):
        return Answer("none")
    if not isinstance(outcome, Allocation):
        return Answer("too slow" if isinstance(outcome, OutOfBudget) else "error", detail=str(outcome))
    by_uid = {one.claim_uid: encode.allocation(one.result) for one in outcome.claims}
    return _answer({"outcome": "results" if uids else "none", "results": [by_uid[uid] for uid in uids]})


class Deadline:
    """A budget of CPU time."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    def exhausted(self) -> bool:
        """Return whether the time is over."""
        return time.process_time() >= self._end


def model(oracle: Oracle, cluster: JSON, bugs: frozenset[Bug] = frozenset(), *, most_steps: int = MOST_STEPS) -> Answer:
    """Ask the model, with some of Kubernetes' bugs switched on."""
    try:
        return _answer(attempt(cluster, oracle, bugs, most_steps=most_steps))
    except TooManyStepsError:
        return Answer("unknown")


def _answer(raw: JSON) -> Answer:
    outcome = raw["outcome"]
    results = _text(raw.get("results")) if outcome == "results" else ""
    return Answer(outcome, results, raw.get("error") or "")


def _text(results: Any) -> str:
    return orjson.dumps(_canonical(results), option=orjson.OPT_SORT_KEYS).decode()


def _canonical(value: Any) -> Any:
    """Without what is absent or empty; amounts of capacity by value; tolerations as the API server completes them."""
    if isinstance(value, dict):
        kept: JSON = {
            key: _amounts(entry) if key == "consumedCapacity" else _canonical(entry) for key, entry in value.items()
        }
        if kept.get("tolerations"):
            kept["tolerations"] = [{"operator": "Equal", **one} for one in kept["tolerations"]]
        return {key: entry for key, entry in kept.items() if entry not in (None, {}, [], "")}
    if isinstance(value, list):
        return [_canonical(entry) for entry in value]
    return value


def _amounts(consumed: Any) -> dict[str, str]:
    return {name: str(value if isinstance(value, Fraction) else amount(value)) for name, value in consumed.items()}
