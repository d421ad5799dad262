"""What the simulated cluster is made of, as API objects: devices of several kinds, and pods that ask for them.

gpu     one user each; plain, or partitions (a whole card or its halves) that share the card's counters; claims with
        admin access use them beside others, and pods can ask for them as for an extended resource
nic     shared by many: each user takes some of its bandwidth
fabric  reached from every node; has to be attached to one before its pod may start
cores   takes a good part of its node's cpu
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

GROUP = "resource.k8s.io/v1"
GPU = "gpu.example.com"
NIC = "nic.example.com"
NAMESPACE = "default"
FABRIC = "fabric.example.com"
CORES = "cores.example.com"
NIC_BANDWIDTH = 10
ATTACHED, BROKEN = "Attached", "Broken"
"""The conditions of a fabric's devices."""
CPU, CORES_EACH, POD_CPU = "64", "20", "100m"
"""What a node has, what each `cores` device takes of it, and each pod."""
RESOURCE = "example.com/gpu"
"""The extended resource that the class of gpus stands for."""
KINDS = ("plain", "partitions")
"""What cards a node has."""

_CLASSES = {"gpu": GPU, "nic": NIC, "fabric": FABRIC, "cores": CORES}


def node(name: str) -> JSON:
    """A node with room for any pods."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": CPU, "memory": "64Gi", "pods": "500"}},
    }


def classes() -> list[JSON]:
    """A class per driver."""
    return [
        {
            "apiVersion": GROUP,
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]}
            | ({"extendedResourceName": RESOURCE} if name == "gpu" else {}),
        }
        for name, driver in _CLASSES.items()
    ]


def cards(node_name: str, kind: str, count: int, generation: int = 1, tainted: frozenset[str] = frozenset()) -> JSON:
    """The slice of a node's plain GPUs, or of the partitions of its cards."""
    devices: list[JSON] = []
    for number in range(count):
        if kind == "plain":
            devices.append({"name": f"gpu-{number}"})
        else:
            devices += [
                _partition(number, "whole", 2),
                _partition(number, "half-0", 1),
                _partition(number, "half-1", 1),
            ]
    for device in devices:
        if device["name"] in tainted:
            device["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    return _slice(node_name, GPU, "cards", generation, 1 if kind == "plain" else 2, devices=devices)


def counters(node_name: str, count: int, generation: int = 1) -> JSON:
    """The slice that says what the cards of a node have to share out."""
    sets = [{"name": f"card-{number}", "counters": {"parts": {"value": "2"}}} for number in range(count)]
    return _slice(node_name, GPU, "counters", generation, 2, sharedCounters=sets)


def nics(node_name: str) -> JSON:
    """The slice of a node's network card."""
    capacity = {"bandwidth": {"value": str(NIC_BANDWIDTH)}}
    device = {"name": "nic-0", "allowMultipleAllocations": True, "capacity": capacity}
    return _slice(node_name, NIC, "nics", 1, 1, devices=[device])


def cores(node_name: str) -> JSON:
    """The slice of what takes a node's cpu: one device more than the node has room for."""
    takes = {"cpu": {"mapping": {"deviceMultiplier": CORES_EACH}}}
    devices = [{"name": f"cores-{number}", "nodeAllocatableResources": takes} for number in range(4)]
    return _slice(node_name, CORES, "cores", 1, 1, devices=devices)


def fabric(count: int) -> JSON:
    """The slice of what every node reaches."""
    conditions = {"bindingConditions": [ATTACHED], "bindingFailureConditions": [BROKEN]}
    devices = [{"name": f"port-{number}", **conditions} for number in range(count)]
    made = _slice("all", FABRIC, "fabric", 1, 1, devices=devices)
    del made["spec"]["nodeName"]
    made["spec"]["allNodes"] = True
    return made


def taint_rule(pool: str, device: str) -> JSON:
    """What keeps new pods off a gpu."""
    selector = {"driver": GPU, "pool": pool, "device": device}
    spec = {"deviceSelector": selector, "taint": {"key": "maintenance", "effect": "NoSchedule"}}
    return {
        "apiVersion": GROUP,
        "kind": "DeviceTaintRule",
        "metadata": {"name": f"{pool}-{device}"},
        "spec": spec,
    }


def templates() -> list[JSON]:
    """A template per way to ask, named as in `ASKS`."""
    return [
        {
            "apiVersion": GROUP,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"spec": {"devices": {"requests": requests}}},
        }
        for name, requests in ASKS.items()
    ]


def shared_claim(name: str) -> JSON:
    """A claim that several pods use."""
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": GROUP, "kind": "ResourceClaim", "metadata": meta, "spec": {"devices": {"requests": _ONE}}}


def pod(name: str, *, template: str = "", claim: str = "") -> JSON:
    """A pod of ours with one claim."""
    source = {"resourceClaimName": claim} if claim else {"resourceClaimTemplateName": template}
    container = {
        "name": "main",
        "image": "example.com/app:1",
        "resources": {"requests": {"cpu": POD_CPU}, "claims": [{"name": "devices"}]},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "schedulerName": "dra-scheduler",
            "containers": [container],
            "resourceClaims": [{"name": "devices", **source}],
        },
    }


def extended_pod(name: str, count: int) -> JSON:
    """A pod of ours that asks for gpus as an extended resource."""
    asked = {RESOURCE: str(count)}
    resources = {"requests": {"cpu": POD_CPU, **asked}, "limits": asked}
    container = {"name": "main", "image": "example.com/app:1", "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"schedulerName": "dra-scheduler", "containers": [container]},
    }


def extended_claim(pod_of_it: JSON, count: int) -> JSON:
    """What such a pod needs, as a claim that nobody creates."""
    meta = {"name": f"{pod_of_it['metadata']['name']}-extended", "namespace": NAMESPACE, "uid": "expected"}
    requests = [{"name": "r", "exactly": _exactly(count)}]
    return {"apiVersion": GROUP, "kind": "ResourceClaim", "metadata": meta, "spec": {"devices": {"requests": requests}}}


def group(name: str, count: int, claim: str = "") -> JSON:
    """A gang; with `claim`, one that has this claim for all of its pods."""
    spec: JSON = {"schedulingPolicy": {"gang": {"minCount": count}}}
    if claim:
        spec["resourceClaims"] = [{"name": "devices", "resourceClaimName": claim}]
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}


def member(of: JSON, pod_of_it: JSON) -> JSON:
    """A pod, as one of a gang."""
    spec = {**pod_of_it["spec"], "schedulingGroup": {"podGroupName": of["metadata"]["name"]}}
    return {**pod_of_it, "spec": spec}


def _partition(card: int, name: str, parts: int) -> JSON:
    uses = [{"counterSet": f"card-{card}", "counters": {"parts": {"value": str(parts)}}}]
    attributes = {"parts": {"int": parts}}
    return {"name": f"gpu-{card}-{name}", "attributes": attributes, "consumesCounters": uses}


def _slice(node_name: str, driver: str, what: str, generation: int, slices: int, **spec: Any) -> JSON:
    pool = {"name": f"{node_name}-{driver.partition('.')[0]}", "generation": generation, "resourceSliceCount": slices}
    return {
        "apiVersion": GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-{what}"},
        "spec": {"driver": driver, "nodeName": node_name, "pool": pool, **spec},
    }


def _exactly(count: int = 1, of: str = "gpu", **rest: Any) -> JSON:
    return {"deviceClassName": of, "allocationMode": "ExactCount", "count": count, **rest}


_ONE: list[JSON] = [{"name": "r", "exactly": _exactly()}]

ASKS: dict[str, list[JSON]] = {
    "one": _ONE,
    "two": [{"name": "r", "exactly": _exactly(2)}],
    "three-or-one": [
        {"name": "r", "firstAvailable": [{"name": "three", **_exactly(3)}, {"name": "one", **_exactly()}]}
    ],
    "bandwidth": [{"name": "r", "exactly": _exactly(of="nic", capacity={"requests": {"bandwidth": "4"}})}],
    "gpu-and-bandwidth": [
        {"name": "gpu", "exactly": _exactly()},
        {"name": "nic", "exactly": _exactly(of="nic", capacity={"requests": {"bandwidth": "3"}})},
    ],
    "port": [{"name": "r", "exactly": _exactly(of="fabric")}],
    "gpu-and-port": [{"name": "gpu", "exactly": _exactly()}, {"name": "port", "exactly": _exactly(of="fabric")}],
    "cores": [{"name": "r", "exactly": _exactly(of="cores")}],
    "watching": [{"name": "r", "exactly": _exactly(adminAccess=True)}],
}
"""Ways to ask for devices, by the name of the template."""
