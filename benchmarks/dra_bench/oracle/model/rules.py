"""Whether a device may be picked, given the picks so far: every rule computed from scratch."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dra_bench.oracle.model.amounts import Milli, NotRepresentableError, amount, consumption
from dra_bench.oracle.model.bugs import Bug
from dra_bench.oracle.model.constraints import covers, holds, published
from dra_bench.oracle.model.counters import CounterRules
from dra_bench.oracle.model.picks import Alternative, Candidate, Pick
from dra_bench.oracle.model.pools import AttemptFailedError, DeviceKey, device_usable_here, node_matches
from dra_bench.oracle.model.selectors import Expressions

JSON = dict[str, Any]
_NODE_FEATURE = "DRAOptionalNodeOperations"


class Rules:
    """The rules in force for one attempt."""

    def __init__(self, cluster: JSON, expressions: Expressions, bugs: frozenset[Bug]) -> None:
        self._cluster = cluster
        self._on: JSON = cluster["features"]
        self._expressions = expressions
        self._bugs = bugs
        self._whole = {_key(entry) for entry in cluster["allocatedDevices"]}
        self._consumed = {_key(entry): entry["consumedCapacity"] for entry in cluster["aggregatedCapacity"]}
        self._shares = {_key(entry) for entry in cluster["allocatedSharedDeviceIDs"]} | {*self._consumed}
        self._counters = CounterRules(
            self._whole | self._shares,
            self._shares,
            groups=self._on["CompatibilityGroups"],
            forgetful=Bug.UNGROUPED_FORGOTTEN in bugs,
        )
        self._milli = Milli(self._on["FractionalCapacityRange"], integers_too=Bug.INTEGER_RANGE in bugs)

    def selectable(self, one: Alternative, candidate: Candidate) -> bool:
        """Class selectors, request selectors, gate of binding conditions, node. Raises AttemptFailedError."""
        device = candidate.device
        if not self._on["DeviceBindingAndStatus"] and device.get("bindingConditions"):
            return False
        here = not candidate.spec.get("perDeviceNodeSelection") or device_usable_here(self._cluster["node"], device)
        if not here and Bug.DEVICE_NODE_SELECTOR not in self._bugs:
            return False
        selectors = [*one.device_class["spec"].get("selectors", ()), *one.body.get("selectors", ())]
        if not all(self._expressions.matches(s["cel"]["expression"], candidate.key) for s in selectors):
            return False
        return here or self._here_for_kubernetes(candidate)

    def _here_for_kubernetes(self, candidate: Candidate) -> bool:
        try:
            return node_matches(self._cluster["node"], candidate.device)
        except ValueError as error:
            raise AttemptFailedError(f"device {candidate.key}: {error}") from error

    def offers(self, one: Alternative, candidate: Candidate) -> dict[str, Fraction] | None:
        """What the request takes of each capacity of the device; None: it cannot have it even of an empty one.

        Raises AttemptFailedError.
        """
        capacity = candidate.device.get("capacity", {})
        if not self._on["ConsumableCapacity"]:
            return {}
        try:
            taken = consumption(one.body.get("capacity", {}).get("requests", {}), capacity, self._milli)
        except NotRepresentableError as error:
            raise AttemptFailedError(str(error)) from error
        if taken is None or any(taken[name] > amount(capacity[name]["value"]) for name in capacity):
            return None
        return taken

    def pick(self, one: Alternative, candidate: Candidate, picks: Sequence[Pick]) -> Pick | None:
        """Return the pick if no rule is against it. Raises AttemptFailedError."""
        if self._in_use(one, candidate, picks) or not self.selectable(one, candidate):
            return None
        taken = self.offers(one, candidate)
        if taken is None:
            return None
        left = self._counts_nothing(one) or self._left(candidate, taken, picks)
        if not left and one.everything is None:
            return None
        if not self._node_and_gates(candidate) or not self._counters_left(one, candidate, picks):
            return None
        if self._tainted(one, candidate.device) or not self._constraints_hold(one, candidate, picks):
            return None
        if not left:  # for mode All Kubernetes looks at constraints first, which may be an error
            return None
        return Pick(one, candidate, taken if self._shared(candidate) else None)

    def _counts_nothing(self, one: Alternative) -> bool:
        return one.admin and Bug.ADMIN_ACCESS not in self._bugs

    def _counting(self, picks: Sequence[Pick]) -> list[Pick]:
        return [pick for pick in picks if not self._counts_nothing(pick.alternative)]

    def _shared(self, candidate: Candidate) -> bool:
        return bool(self._on["ConsumableCapacity"] and candidate.device.get("allowMultipleAllocations"))

    def _in_use(self, one: Alternative, candidate: Candidate, picks: Sequence[Pick]) -> bool:
        same = [p for p in picks if p.candidate.key == candidate.key and p.taken is None]
        if any(p.alternative.claim == one.claim for p in same):
            return True
        return not one.admin and (self._held(candidate) or bool(self._counting(same)))

    def _held(self, candidate: Candidate) -> bool:
        """Whether claims that are allocated exclude another one: a device that is not shared (any more) has one."""
        forgotten = Bug.FORGOTTEN_SHARE in self._bugs or self._shared(candidate)
        return candidate.key in self._whole or (not forgotten and candidate.key in self._shares)

    def _left(self, candidate: Candidate, taken: dict[str, Fraction], picks: Sequence[Pick]) -> bool:
        used = self._consumed.get(candidate.key, {})
        same = [p.taken for p in self._counting(picks) if p.candidate.key == candidate.key and p.taken is not None]
        return all(
            amount(used.get(name, 0)) + sum(one[name] for one in same) + more
            <= amount(candidate.device["capacity"][name]["value"])
            for name, more in taken.items()
        )

    def _node_and_gates(self, candidate: Candidate) -> bool:
        declared = self._cluster["node"].get("status", {}).get("declaredFeatures", ())
        if candidate.spec.get("skipNodeOperations"):
            return self._on["OptionalNodeOperations"] and _NODE_FEATURE in declared
        return True

    def _counters_left(self, one: Alternative, candidate: Candidate, picks: Sequence[Pick]) -> bool:
        if not candidate.device.get("consumesCounters"):
            return True
        if not self._on["PartitionableDevices"]:
            return False
        if self._counts_nothing(one):
            return True
        charged = [(p.candidate, p.taken is not None) for p in self._counting(picks)]
        return self._counters.admit(candidate, self._shared(candidate), charged)

    def _tainted(self, one: Alternative, device: JSON) -> bool:
        taints = [t for t in device.get("taints", ()) if t["effect"] in ("NoSchedule", "NoExecute")]
        tolerations = one.body.get("tolerations", ())
        return self._on["DeviceTaints"] and not all(any(_tolerates(t, taint) for t in tolerations) for taint in taints)

    def _constraints_hold(self, one: Alternative, candidate: Candidate, picks: Sequence[Pick]) -> bool:
        claim = self._cluster["claimsToAllocate"][one.claim]
        own = [(p.alternative, p.candidate) for p in picks if p.alternative.claim == one.claim]
        for constraint in claim["spec"]["devices"].get("constraints", ()):
            if not covers(constraint, one.names):
                continue
            name = constraint.get("matchAttribute") or constraint["distinctAttribute"]
            covered = [(a, c) for a, c in own if covers(constraint, a.names)] + [(one, candidate)]
            attributes = [self._attribute(a, c, name) for a, c in covered]
            if not holds(constraint, attributes, lists=self._on["ListTypeAttributes"]):
                if one.everything is not None and Bug.ALL_UNDER_CONSTRAINT in self._bugs:
                    raise AttemptFailedError(f"constraint {name} on {candidate.key}")
                return False
        return True

    def _attribute(self, one: Alternative, candidate: Candidate, name: str) -> JSON | None:
        for derived in one.body.get("derivedAttributes", ()):
            if derived["name"] == name:
                return self._expressions.derived(derived["expression"], candidate.key)
        return published(candidate.device.get("attributes", {}), candidate.pool.driver, name)


def _tolerates(toleration: JSON, taint: JSON) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    same = toleration.get("value", "") == taint.get("value", "")
    return bool(toleration.get("operator", "Equal") == "Exists" or same)


def _key(entry: JSON) -> DeviceKey:
    return (entry["driver"], entry["pool"], entry["device"])
