"""One object of each resource.k8s.io kind with every field in use (Kubernetes 1.37, v1), for tests of rules."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]
UID = "0f3a5c0e-8b62-4c0a-9f5e-1a2b3c4d5e6f"


def obj(kind: str, spec: Obj, **metadata: Any) -> Obj:
    """Return an object of a kind in v1."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "x"} | metadata, "spec": spec}


def node_selector() -> Obj:
    """Return a node selector with one term."""
    expressions = [{"key": "a", "operator": "In", "values": ["b"]}]
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n"]}]
    return {"nodeSelectorTerms": [{"matchExpressions": expressions, "matchFields": fields}]}


def claim_spec() -> Obj:
    """Return the spec of a claim: a plain request and a prioritized list."""
    exactly = {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": 1,
        "adminAccess": True,
        "tolerations": [
            {"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute", "tolerationSeconds": 3},
        ],
        "capacity": {"requests": {"m": "1"}},
        "selectors": [{"cel": {"expression": "device.driver == 'd.example.com'"}}],
        "derivedAttributes": [{"name": "a.example.com/x", "expression": "device.driver"}],
    }
    alternatives = [
        {
            "name": "s0",
            "deviceClassName": "gpu",
            "allocationMode": "ExactCount",
            "count": 2,
            "tolerations": [{"operator": "Exists"}],
            "derivedAttributes": [{"name": "a.example.com/y", "expression": "1"}],
        },
        {"name": "s1", "deviceClassName": "gpu", "allocationMode": "All"},
    ]
    return {
        "devices": {
            "requests": [{"name": "r", "exactly": exactly}, {"name": "q", "firstAvailable": alternatives}],
            "constraints": [
                {"requests": ["r"], "matchAttribute": "a.example.com/x"},
                {"requests": ["q/s0"], "distinctAttribute": "a.example.com/y"},
            ],
            "config": [
                {"requests": ["r", "q/s1"], "opaque": {"driver": "d.example.com", "parameters": {"a": 1}}},
            ],
        }
    }


def claim() -> Obj:
    """Return a claim with metadata of all kinds."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1", "controller": True}
    return obj(
        "ResourceClaim",
        claim_spec(),
        namespace="default",
        labels={"a": "b"},
        annotations={"A/b": "x"},
        finalizers=["a/b"],
        ownerReferences=[owner],
    )


def claim_status() -> Obj:
    """Return a status that fits `claim`: allocated, reserved twice, one device reported by its driver."""
    everything = {
        "request": "r",
        "driver": "d.example.com",
        "pool": "p/q",
        "device": "x",
        "adminAccess": True,
        "tolerations": [{"operator": "Exists"}],
        "bindingConditions": ["a"],
        "bindingFailureConditions": ["b"],
        "shareID": UID,
        "consumedCapacity": {"m": "1"},
        "skipNodeOperations": ["*"],
    }
    plain = {"request": "q/s0", "driver": "d.example.com", "pool": "p", "device": "y"}
    config = [{"source": "FromClass", "requests": ["r"], "opaque": {"driver": "d.example.com", "parameters": {}}}]
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "A",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    reported = {
        "driver": "d.example.com",
        "pool": "p",
        "device": "y",
        "conditions": [condition],
        "data": {"a": 1},
        "networkData": {"interfaceName": "eth0", "ips": ["10.0.0.1/24"], "hardwareAddress": "x"},
    }
    return {
        "allocation": {"devices": {"results": [everything, plain], "config": config}, "nodeSelector": node_selector()},
        "reservedFor": [
            {"resource": "pods", "name": "p", "uid": "u"},
            {"resource": "pods", "apiGroup": "g", "name": "q", "uid": "v"},
        ],
        "devices": [reported],
    }


def template() -> Obj:
    """Return a template."""
    metadata = {"labels": {"a": "b"}, "annotations": {"x": "y"}}
    return obj("ResourceClaimTemplate", {"metadata": metadata, "spec": claim_spec()}, namespace="default")


def slice_of(*devices: Obj, **spec: Any) -> Obj:
    """Return a slice; None takes a field away."""
    merged = {
        "driver": "d.example.com",
        "pool": {"name": "p", "generation": 0, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": list(devices),
    } | spec
    return obj("ResourceSlice", {key: value for key, value in merged.items() if value is not None})


def full_device() -> Obj:
    """Return a device with every field but its scope."""
    ranged = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}}
    consumes = {"counterSet": "s", "counters": {"c": {"value": "1"}}, "compatibilityGroups": ["g"]}
    return {
        "name": "a",
        "attributes": {
            "x": {"string": "v"},
            "d.example.com/y": {"version": "1.2.3-rc.1+b"},
            "z": {"int": 1},
            "b": {"bool": False},
            "t": {"string": "x"},
        },
        "capacity": {"m": {"value": "8Gi", "requestPolicy": ranged}},
        "allowMultipleAllocations": True,
        "bindsToNode": True,
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}],
        "consumesCounters": [consumes],
        "bindingConditions": ["a.example.com/ready"],
        "bindingFailureConditions": ["a.example.com/failed"],
        "nodeAllocatableResources": {
            "cpu": {"mapping": {"capacityKey": "m", "capacityMultiplier": "2"}, "overhead": {"perPod": "1"}},
            "hugepages-2Mi": {"mapping": {"deviceMultiplier": "1"}},
        },
    }


def list_device() -> Obj:
    """Return a device with attributes that are lists and a capacity with valid values."""
    return {
        "name": "b",
        "attributes": {
            "t": {"strings": ["a", "b"]},
            "l": {"versions": ["1.0.0"]},
            "i": {"ints": [1, 2]},
            "f": {"bools": [True]},
        },
        "capacity": {"n": {"value": "10", "requestPolicy": {"default": "1", "validValues": ["1", "5"]}}},
        "allowMultipleAllocations": True,
    }


def full_slice() -> Obj:
    """Return a slice of one node with both devices."""
    return slice_of(full_device(), list_device(), partitionTypeAttribute="d.example.com/t", skipNodeOperations=["*"])


def scoped_slice() -> Obj:
    """Return a slice whose devices have a scope each."""
    devices = [
        {"name": "a", "nodeName": "n"},
        {"name": "b", "nodeSelector": node_selector()},
        {"name": "c", "allNodes": True},
    ]
    return slice_of(*devices, nodeName=None, perDeviceNodeSelection=True)


def counter_slice() -> Obj:
    """Return a slice of shared counters."""
    sets = [{"name": name, "counters": {"c": {"value": "1"}}} for name in ("s", "t")]
    return slice_of(nodeName=None, nodeSelector=node_selector(), sharedCounters=sets, devices=None)


def device_class() -> Obj:
    """Return a class."""
    config = [{"opaque": {"driver": "d.example.com", "parameters": {"a": 1}}}]
    selectors = [{"cel": {"expression": "device.allowMultipleAllocations"}}]
    return obj("DeviceClass", {"selectors": selectors, "config": config, "extendedResourceName": "a.example.com/x"})


def taint_rule() -> Obj:
    """Return a taint rule."""
    taint = {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
    return obj(
        "DeviceTaintRule", {"deviceSelector": {"driver": "d.example.com", "pool": "a/b", "device": "x"}, "taint": taint}
    )


def all_objects() -> list[Obj]:
    """Return one or more objects of every kind, each valid."""
    return [
        claim(),
        template(),
        full_slice(),
        scoped_slice(),
        counter_slice(),
        device_class(),
        taint_rule(),
    ]
