"""Whether the parts around a scheduler work: claim controller, drivers, classes, and other schedulers."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from dra_allocator.masks import MaskStore
from dra_api.references import DEVICE_CLASS, POD, RESOURCE_CLAIM, RESOURCE_SLICE
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.doctor.check import Check
from dra_scheduler.inventory.devices import MASK_BYTES, class_mask, list_devices, sums
from dra_scheduler.report.phrases import counted
from dra_scheduler.survey.snapshot import Object, Snapshot
from dra_scheduler.survey.times import parse_time

PATIENCE = timedelta(seconds=30)
"""How long a claim may take to be created from its template."""


def claim_controller(snapshot: Snapshot) -> Check:
    """Whether claims are created from templates: kube-controller-manager does it, no scheduler can go on without."""
    name = "claim-controller"
    if not snapshot.has(POD):
        return Check(name, "unknown", "pods may not be read")
    asking = [pod for pod in snapshot.of(POD) if _template_entries(pod)]
    waiting = [pod for pod in asking if _lacks_claims(pod)]
    late = [pod for pod in waiting if snapshot.taken - (_created(pod) or snapshot.taken) > PATIENCE]
    if late:
        named = ", ".join(f"{p['metadata']['namespace']}/{p['metadata']['name']}" for p in late[:3])
        text = f"{counted(len(late), 'pod')} without the claims of their templates for more than 30 s, such as {named}"
        todo = (
            "look whether kube-controller-manager runs its resourceclaim-controller, whether the templates exist, and "
            "at the events of the pods"
        )
        return Check(name, "problem", text, todo)
    if len(asking) == len(waiting):
        return Check(name, "unknown", "no pod has had a claim made from a template, so nothing shows that it works")
    return Check(name, "ok", f"claims have been made from templates for {counted(len(asking) - len(waiting), 'pod')}")


def drivers(snapshot: Snapshot, cluster: Cluster) -> Check:
    """Whether drivers publish devices that can be used."""
    if not snapshot.has(RESOURCE_SLICE):
        return Check("drivers", "unknown", "ResourceSlices may not be read")
    listed = list_devices(cluster)
    if not listed:
        return Check(
            "drivers", "problem", "no driver publishes a device", "install a driver for your devices (a DaemonSet)"
        )
    said = [
        f"{driver}: {counted(counts['total'], 'device')}"
        + (f", {counts['unusable']} unusable" if "unusable" in counts else "")
        for driver, counts in sums(listed, "driver").items()
    ]
    unusable = [one for one in listed if one.reason and one.state != "blocked"]
    if unusable:
        reasons = Counter(one.reason for one in unusable).most_common(2)
        why = "; ".join(f"{counted(count, 'device')}: {reason}" for reason, count in reasons)
        return Check("drivers", "warning", f"{', '.join(said)} ({why})", "look at the driver; audit names the pools")
    return Check("drivers", "ok", ", ".join(said))


def classes(snapshot: Snapshot, cluster: Cluster) -> Check:
    """Whether there are DeviceClasses, and devices of each."""
    if not snapshot.has(DEVICE_CLASS):
        return Check("classes", "unknown", "DeviceClasses may not be read")
    if not cluster.devices.classes:
        return Check("classes", "problem", "there is no DeviceClass", "drivers come with one; create it")
    masks = MaskStore(MASK_BYTES)
    in_use = [row for row in range(len(cluster.devices.rows)) if cluster.devices.rows.in_use(row)]
    empty = [name for name in sorted(cluster.devices.classes) if not class_mask(cluster, masks, name)[in_use].any()]
    if empty and snapshot.has(RESOURCE_SLICE):
        text = f"no device is of {', '.join(empty)}"
        return Check("classes", "warning", text, "compare the selectors with what drivers publish: dra-scheduler lint")
    number = len(cluster.devices.classes)
    return Check("classes", "ok", f"{number} DeviceClass{'' if number == 1 else 'es'} with devices")


def rivals(snapshot: Snapshot, cluster: Cluster, lease: Object | None, ours: str) -> Check:
    """Whether several schedulers allocate from one driver's devices: nothing keeps them from the same device."""
    if not snapshot.has(POD) or not snapshot.has(RESOURCE_CLAIM):
        return Check("rivals", "unknown", "pods or claims may not be read")
    kube = _lease_text(lease, snapshot.taken)
    by_driver: dict[str, Counter[str]] = {}
    for pod in cluster.pods:
        for driver in _drivers_of(cluster, pod.namespace, [entry.claim_name for entry in pod.claims]):
            by_driver.setdefault(driver, Counter())[pod.scheduler_name] += 1
    shared = {driver: names for driver, names in by_driver.items() if len(names) > 1}
    if shared:
        said = "; ".join(
            f"{driver}: " + ", ".join(f"{name} ({counted(count, 'pod')})" for name, count in sorted(names.items()))
            for driver, names in sorted(shared.items())
        )
        todo = "give each driver's devices to one scheduler: two can allocate one device at the same moment"
        return Check("rivals", "warning", f"several schedulers allocate from one driver: {said}{kube}", todo)
    others = sorted({name for names in by_driver.values() for name in names} - {ours})
    text = f"devices are allocated by {', '.join(others)}" if others else "no other scheduler has pods with devices"
    return Check("rivals", "ok", text + kube)


def _drivers_of(cluster: Cluster, namespace: str, names: list[str | None]) -> set[str]:
    found: set[str] = set()
    for name in names:
        claim = None if name is None else cluster.claims.get(namespace, name)
        if claim is not None and claim.allocation is not None:
            found |= {entry.device.driver for entry in claim.allocation.devices}
    return found


def _lease_text(lease: Object | None, now: datetime) -> str:
    spec = (lease or {}).get("spec") or {}
    renewed = parse_time(spec.get("renewTime"))
    if renewed is None:
        return ""
    age = (now - renewed).total_seconds()
    alive = age <= 2 * float(spec.get("leaseDurationSeconds") or 15)
    holder = spec.get("holderIdentity") or "nobody"
    return f"; kube-scheduler {'is alive' if alive else 'was alive'} ({holder}, {max(0, age):.0f} s ago)"


def _template_entries(pod: Object) -> list[str]:
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return []
    entries = (pod.get("spec") or {}).get("resourceClaims") or ()
    return [entry["name"] for entry in entries if entry.get("resourceClaimTemplateName")]


def _lacks_claims(pod: Object) -> bool:
    made = {entry["name"] for entry in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
    return not set(_template_entries(pod)) <= made


def _created(pod: Object) -> datetime | None:
    return parse_time(pod["metadata"].get("creationTimestamp"))
