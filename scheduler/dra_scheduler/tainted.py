"""Devices that were tainted after they had been picked, and before the pod has its node (KEP-5055).

A taint keeps new pods off a device, and the pod is one until it is bound: it goes elsewhere. What was allocated before
the decision is not asked about again, as kube-scheduler does it; NoExecute taints end pods wherever they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from dra_allocator.device import DeviceID, DeviceTaint
from dra_allocator.outcome import AllocationResult
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.errors import SchedulerError


class DeviceTaintedError(SchedulerError):
    """A device of the pod got a taint that its claim does not tolerate: the pod has to get another one.

    Whoever set the taint caused it, and meant it. Nothing is to be done; the text names device and taint.
    """

    def __init__(self, device: DeviceID, taint: DeviceTaint) -> None:
        value = f"={taint.value}" if taint.value else ""
        super().__init__(f"device {device} has been tainted meanwhile: {taint.key}{value}:{taint.effect}")


def check_taints(cluster: Cluster, allocations: Iterable[AllocationResult]) -> None:
    """Raise DeviceTaintedError if one of the devices has a taint now that its claim does not tolerate."""
    if not cluster.features.device_taints:
        return
    found = cluster.taints.first(device for allocation in allocations for device in allocation.devices)
    if found is not None:
        raise DeviceTaintedError(*found)
