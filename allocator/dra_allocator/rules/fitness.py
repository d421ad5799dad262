"""What keeps a selected device from a request whatever else is picked: node features, gates, taints."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_allocator.candidates import Candidates, Need
from dra_allocator.claim import Toleration
from dra_allocator.device import DeviceTaint
from dra_allocator.problem import NodeProblem

OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
"""The feature that a kubelet must declare for devices with `skipNodeOperations` (Kubernetes 1.37)."""


class Fitness:
    """Per device whether the node and the features allow it, and per request whether its taints are tolerated."""

    can_fail = False

    def __init__(self, problem: NodeProblem) -> None:
        self._problem = problem
        self._known: dict[tuple[Candidates, int], bool] = {}

    def take(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        key = request, position
        fits = self._known.get(key)
        if fits is None:
            fits = self._known[key] = self._fits(request, position)
        return fits

    def release(self, request: Candidates, position: int) -> None:
        """See `Rule`; there is no account."""

    def key(self, position: int) -> Hashable:
        """See `Rule`."""
        return why_unfit(self._problem, position), device_taints(self._problem, position)

    def state(self) -> Hashable:
        """See `Rule`."""
        return None

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """See `Rule`."""
        return [position for position in positions if self.take(request, position)]

    def fails(self, request: Candidates, position: int) -> bool:
        """See `Rule`."""
        return False

    def suffices(self, needs: Sequence[Need]) -> bool:
        """See `Rule`; nothing is known beyond single devices."""
        return True

    def _fits(self, request: Candidates, position: int) -> bool:
        if why_unfit(self._problem, position):
            return False
        tolerations = request.request.spec.tolerations
        return all(is_tolerated(taint, tolerations) for taint in device_taints(self._problem, position))


def why_unfit(problem: NodeProblem, position: int) -> str:
    """Return why no request may get the device on this node, or an empty text."""
    features = problem.view.features
    if problem.traits[position].consumes_counters and not features.partitionable_devices:
        return "consumes counters, but the DRAPartitionableDevices feature is disabled"
    if problem.skips_node_operations(position):
        if not features.optional_node_operations:
            return "skips node operations, but the DRAOptionalNodeOperations feature is disabled"
        if OPTIONAL_NODE_OPERATIONS not in problem.node.declared_features:
            return "skips node operations, and the node does not declare DRAOptionalNodeOperations"
    return ""


def device_taints(problem: NodeProblem, position: int) -> tuple[DeviceTaint, ...]:
    """Return the taints in force that keep claims away."""
    if not problem.view.features.device_taints:
        return ()
    return blocking_taints(problem.taints(position))


def blocking_taints(taints: Sequence[DeviceTaint]) -> tuple[DeviceTaint, ...]:
    """Return the taints that keep claims away (KEP-5055); other effects do not."""
    return tuple(taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute"))


def is_tolerated(taint: DeviceTaint, tolerations: Sequence[Toleration]) -> bool:
    """Return whether one of the tolerations covers the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: DeviceTaint) -> bool:
    if toleration.effect is not None and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value
