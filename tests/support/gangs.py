"""PodGroups on a stage: groups, their pods, and devices that can be had whole or in halves."""

from __future__ import annotations

from typing import Any

from dra_scheduler.settings import Settings
from support.stage import GROUP, Raw, Stage, pod

GATES = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
SETTINGS = Settings(feature_gates=GATES)
SCHEDULING = "scheduling.k8s.io/v1beta1"


def pod_group(name: str = "group", min_count: int | None = 2, **spec: Any) -> Raw:
    """A gang of `min_count` pods; None: the policy basic."""
    policy: Raw = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    meta = {"name": name, "namespace": "default"}
    return {
        "apiVersion": SCHEDULING,
        "kind": "PodGroup",
        "metadata": meta,
        "spec": {"schedulingPolicy": policy, **spec},
    }


def member(name: str, group: str = "group", **more: Any) -> Raw:
    return pod(name, schedulingGroup={"podGroupName": group}, **more)


async def group_condition(stage: Stage, name: str = "group") -> tuple[str, str, str]:
    """Status, reason and message of PodGroupInitiallyScheduled."""
    raw = await stage.send("GET", f"/apis/{SCHEDULING}/namespaces/default/podgroups/{name}")
    for condition in (raw.get("status") or {}).get("conditions") or ():
        if condition["type"] == "PodGroupInitiallyScheduled":
            return condition["status"], condition["reason"], condition["message"]
    return "", "", ""


def halves_slice(node_name: str, cards: int = 1, **where: Any) -> Raw:
    """A slice and its counters: each card can be had whole, or as two halves. Returns the slice with the devices."""
    devices: list[Raw] = []
    for card in range(cards):
        for name, share in ((f"whole-{card}", "2"), (f"half-{card}-a", "1"), (f"half-{card}-b", "1")):
            devices.append(
                {
                    "name": name,
                    "attributes": {"kind": {"string": name.partition("-")[0]}},
                    "consumesCounters": [{"counterSet": f"card-{card}", "counters": {"parts": {"value": share}}}],
                }
            )
    return {
        "apiVersion": GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": f"slice-{node_name}"},
        "spec": {
            "driver": "gpu.example.com",
            **(where or {"nodeName": node_name}),
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 2},
            "devices": devices,
        },
    }


def counters_slice(node_name: str, cards: int = 1, **where: Any) -> Raw:
    """The counters of `halves_slice`."""
    sets = [{"name": f"card-{card}", "counters": {"parts": {"value": "2"}}} for card in range(cards)]
    return {
        "apiVersion": GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": f"counters-{node_name}"},
        "spec": {
            "driver": "gpu.example.com",
            **(where or {"nodeName": node_name}),
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 2},
            "sharedCounters": sets,
        },
    }


def whole_or_half(name: str = "gpu") -> Raw:
    """A ResourceClaimTemplate that asks for a whole card, or for half a one."""

    def part(kind: str) -> Raw:
        text = f'device.attributes["gpu.example.com"].kind == "{kind}"'
        return {"name": kind, "deviceClassName": "gpu", "selectors": [{"cel": {"expression": text}}]}

    requests = [{"name": "gpu", "firstAvailable": [part("whole"), part("half")]}]
    meta = {"name": name, "namespace": "default"}
    spec = {"spec": {"devices": {"requests": requests}}}
    return {"apiVersion": GROUP, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}
