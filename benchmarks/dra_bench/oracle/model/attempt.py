"""One attempt of the model: check the requests, search, and say what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dra_bench.oracle.model.bugs import Bug
from dra_bench.oracle.model.picks import Alternative, Candidate, Pick
from dra_bench.oracle.model.pools import AttemptFailedError, Pool, PoolGatherer
from dra_bench.oracle.model.results import claim_result
from dra_bench.oracle.model.rules import Rules
from dra_bench.oracle.model.selectors import Asks, Expressions

JSON = dict[str, Any]
LARGEST_CLAIM = 32
MOST_STEPS = 20_000
"""Devices tried for a request, a few seconds."""
Claims = list[list[list[Alternative]]]


class TooManyStepsError(Exception):
    """The cluster is too large for trying all combinations: the model has no opinion."""


def attempt(cluster: JSON, oracle: Asks, bugs: frozenset[Bug] = frozenset(), *, most_steps: int = MOST_STEPS) -> JSON:
    """Return `outcome` results, none or error, with `results` or `error`. Raises TooManyStepsError."""
    try:
        return Attempt(cluster, oracle, bugs, most_steps).run()
    except AttemptFailedError as error:
        return {"outcome": "error", "error": str(error)}


class Attempt:
    """What one attempt knows."""

    def __init__(self, cluster: JSON, oracle: Asks, bugs: frozenset[Bug], most_steps: int = MOST_STEPS) -> None:
        self._cluster = cluster
        self._most_steps = most_steps
        self._on: JSON = cluster["features"]
        self._bugs = bugs
        self._pools: list[Pool] = PoolGatherer(cluster, bugs).gather()
        self._candidates = [Candidate(pool, device, spec) for pool in self._pools for device, spec in pool.devices()]
        self._rules = Rules(cluster, Expressions(oracle, cluster["features"], self._pools), bugs)
        self._claims: Claims = []
        self._steps = 0

    def run(self) -> JSON:
        """Return the outcome. Raises AttemptFailedError and TooManyStepsError."""
        for number, claim in enumerate(self._cluster["claimsToAllocate"]):
            self._claims.append(self._checked(number, claim))
        picks = self._solve(0, 0, ())
        if picks is None and any(pool.state == "invalid" for pool in self._pools):
            raise AttemptFailedError("invalid resource pools")
        if picks is None:
            return {"outcome": "none"}
        chosen = [
            claim_result(claim, [p for p in picks if p.alternative.claim == number], self._cluster, self._bugs)
            for number, claim in enumerate(self._cluster["claimsToAllocate"])
        ]
        return {"outcome": "results" if chosen else "none", "results": chosen}

    def _checked(self, number: int, claim: JSON) -> list[list[Alternative]]:
        requests, least = [], 0
        for index, request in enumerate(claim["spec"]["devices"]["requests"]):
            parts = request.get("firstAvailable") or [request.get("exactly") or {}]
            if request.get("firstAvailable") and not self._on["PrioritizedList"]:
                raise AttemptFailedError("subrequests are off")
            if not self._on["ConsumableCapacity"] and any("capacity" in part for part in parts):
                raise AttemptFailedError("capacity requests are off")
            alternatives = [self._alternative((number, index, sub), request, part) for sub, part in enumerate(parts)]
            least += min(one.wanted for one in alternatives)
            if least > LARGEST_CLAIM:
                raise AttemptFailedError("too many devices")
            requests.append(alternatives)
        if not all(
            {"matchAttribute", "distinctAttribute"} & {*c} for c in claim["spec"]["devices"].get("constraints", ())
        ):
            raise AttemptFailedError("a constraint of an unknown kind")
        return requests

    def _alternative(self, where: tuple[int, int, int], request: JSON, part: JSON) -> Alternative:
        if part.get("derivedAttributes") and not self._on["DerivedAttributes"]:
            raise AttemptFailedError("derived attributes are off")
        if "adminAccess" in part and not self._on["AdminAccess"]:
            raise AttemptFailedError("admin access is off")
        if not all("cel" in one for one in part.get("selectors", ())):
            raise AttemptFailedError("a selector of an unknown kind")
        name = part.get("deviceClassName")
        classes = [one for one in self._cluster["classes"] if one["metadata"]["name"] == name]
        if not classes:
            raise AttemptFailedError(f"no class {name}")
        if part.get("allocationMode") not in ("All", "ExactCount"):
            raise AttemptFailedError("an unknown mode")
        name = f"{request['name']}/{part['name']}" if "firstAvailable" in request else request["name"]
        one = Alternative(*where, (request["name"], name), part, classes[0])
        if part.get("allocationMode") != "All":
            return one
        unusable = [pool for pool in self._pools if pool.state != "usable"]
        everything = []
        for index, candidate in enumerate(self._candidates):
            # Pools are looked at in order: an error of a selector may come before the one about a pool.
            if self._rules.selectable(one, candidate) and self._rules.offers(one, candidate) is not None:
                everything.append(index)
        if unusable:
            raise AttemptFailedError(f"pool {unusable[0].name} is {unusable[0].state}")
        return replace(one, everything=tuple(everything))

    def _solve(self, claim: int, request: int, picks: tuple[Pick, ...]) -> Sequence[Pick] | None:
        if claim == len(self._claims):
            return picks
        if request == len(self._claims[claim]):
            return self._solve(claim + 1, 0, picks)
        for alternative in self._claims[claim][request]:
            found = self._fill(alternative, picks, 0, 0)
            if found is not None:
                return found
        return None

    def _fill(self, one: Alternative, picks: tuple[Pick, ...], start: int, have: int) -> Sequence[Pick] | None:
        wanted = one.wanted
        if have == wanted > 0:
            return self._solve(one.claim, one.request + 1, picks)
        if not 0 < wanted - have <= LARGEST_CLAIM - sum(pick.alternative.claim == one.claim for pick in picks):
            return None
        choice = range(start, len(self._candidates)) if one.everything is None else [one.everything[have]]
        for index in choice:
            self._steps += 1
            if self._steps > self._most_steps:
                raise TooManyStepsError
            pick = self._rules.pick(one, self._candidates[index], picks)
            found = None if pick is None else self._fill(one, (*picks, pick), index + 1, have + 1)
            if found is not None:
                return found
        return None
