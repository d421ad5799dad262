"""A finding of the audit, and the names of all that there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAMES: Mapping[str, str] = {
    "device-held-twice": "two claims hold one device, which only one can have",
    "shares-exceed-capacity": "the shares of a device add up to more than its capacity",
    "counters-exceeded": "the devices in use take more of a shared counter than there is",
    "bound-without-claim": "a pod has a node, and a claim of it does not exist",
    "bound-not-allocated": "a pod has a node, and a claim of it is not allocated",
    "bound-not-reserved": "a pod has a node, and a claim of it is not reserved for it",
    "bound-elsewhere": "a pod is on a node on which its claim's devices cannot be used",
    "reserved-for-gone-pod": "a claim is reserved for a pod that is not there, or has ended",
    "device-vanished": "an allocated device is not published any more",
    "device-tainted-noexecute": "an allocated device has a NoExecute taint that the claim does not tolerate",
    "device-tainted-noschedule": "an allocated device has a NoSchedule taint that the claim does not tolerate",
    "finalizer-leaked": "a claim is not allocated, and its finalizer keeps it from going away",
    "finalizer-missing": "a claim is allocated without the finalizer that keeps it while it is in use",
    "allocation-without-timestamp": "a claim is allocated without allocationTimestamp: kube-scheduler cannot share it",
    "pool-incomplete": "a pool has had too few slices of its newest generation for longer than a minute",
    "pool-invalid": "a pool contradicts itself, so nothing can be taken from it",
    "object-unreadable": "an object does not have the form that its kind promises",
}
"""Stable names: what each one means."""

HINTS: Mapping[str, str] = {
    "device-held-twice": "delete one of the pods; two schedulers that allocate from one pool do this",
    "shares-exceed-capacity": "delete one of the pods; two schedulers that allocate from one pool do this",
    "counters-exceeded": "delete one of the pods, or look why the driver published less than before",
    "bound-without-claim": "kubelet does not start the pod: delete it, or create the claim",
    "bound-not-allocated": "kubelet does not start the pod: a scheduler with its schedulerName allocates the claim, "
    "else delete the pod",
    "bound-not-reserved": "kube-controller-manager reserves it within seconds where its claim controller runs",
    "bound-elsewhere": "delete the pod: its devices are not on its node",
    "reserved-for-gone-pod": "kube-controller-manager removes this within seconds where its claim controller runs",
    "device-vanished": "look whether the driver runs on the node; the pods lose the device when they are restarted",
    "device-tainted-noexecute": "the pods are to be evicted: does the device taint eviction controller run?",
    "device-tainted-noschedule": "running pods go on; nothing new is scheduled there until the taint is gone",
    "finalizer-leaked": "kube-controller-manager removes it from claims that are deleted; else remove the finalizer "
    "resource.kubernetes.io/delete-protection",
    "finalizer-missing": "add the finalizer resource.kubernetes.io/delete-protection: a scheduler forgot it",
    "allocation-without-timestamp": "the scheduler that allocated it is older than Kubernetes 1.34; delete the claim "
    "when its pods have ended",
    "pool-incomplete": "restart the driver on the node, or delete the slices that a driver left behind",
    "pool-invalid": "correct the driver: it published this",
    "object-unreadable": "correct or delete the object",
}
"""What to do, by name."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`name` is one of NAMES, `object` what it is about, as people write it; `text` says what exactly is wrong."""

    name: str
    object: str
    text: str

    @property
    def hint(self) -> str:
        """What to do about it."""
        return HINTS[self.name]

    @property
    def identity(self) -> tuple[str, str]:
        """What is the same in a second look, whatever the figures in the text are then."""
        return self.name, self.object
