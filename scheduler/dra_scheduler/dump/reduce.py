"""What of each object goes into a dump: an allowlist per kind, so that what is new or secret stays out.

Left out on purpose: annotations, managed fields, environment variables, commands, images (a pod says only that it has
one), parameters for drivers, addresses, and whatever a scheduler does not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Object = dict[str, Any]

_METADATA = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "labels",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "finalizers",
)
_OWNER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_POD_SPEC = (
    "nodeName",
    "schedulerName",
    "priority",
    "preemptionPolicy",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "schedulingGates",
    "schedulingGroup",
    "resourceClaims",
    "resources",
    "overhead",
    "hostNetwork",
    "hostUsers",
    "restartPolicy",
    "terminationGracePeriodSeconds",
)
_CONTAINER = ("name", "resources", "ports", "restartPolicy", "restartPolicyRules")
_POD_STATUS = (
    "phase",
    "reason",
    "startTime",
    "nominatedNodeName",
    "resourceClaimStatuses",
    "extendedResourceClaimStatus",
    "nodeAllocatableResourceClaimStatuses",
)
_CONDITION = ("type", "status", "reason", "message", "lastTransitionTime")
_EVENT = (
    "involvedObject",
    "regarding",
    "reason",
    "type",
    "message",
    "note",
    "count",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "reportingComponent",
    "reportingInstance",
    "action",
    "series",
    "source",
)
_DEVICE_STATUS = ("driver", "pool", "device", "shareID")
IMAGE = "image.invalid/left-out"
PATH = "/left-out"


def reduced(obj: Object) -> Object:
    """Return a copy with what a dump keeps; of a kind that is not known here only metadata and spec."""
    kept = _picked(obj, ("apiVersion", "kind"))
    kept["metadata"] = _metadata(obj.get("metadata") or {})
    return kept | _BODIES.get(obj.get("kind", ""), _plain)(obj)


def _metadata(metadata: Mapping[str, Any]) -> Object:
    kept = _picked(metadata, _METADATA)
    owners = [_picked(owner, _OWNER) for owner in metadata.get("ownerReferences") or ()]
    return kept | ({"ownerReferences": owners} if owners else {})


def _plain(obj: Object) -> Object:
    return {key: _without_parameters(obj[key]) for key in ("spec", "status") if obj.get(key)}


def _namespace(obj: Object) -> Object:
    return {}


def _node(obj: Object) -> Object:
    spec = _picked(obj.get("spec") or {}, ("taints", "unschedulable"))
    status = obj.get("status") or {}
    kept = _picked(status, ("capacity", "allocatable", "declaredFeatures"))
    conditions = [
        _picked(c, ("type", "status", "reason", "lastTransitionTime")) for c in status.get("conditions") or ()
    ]
    return {"spec": spec, "status": kept | ({"conditions": conditions} if conditions else {})}


def _pod(obj: Object) -> Object:
    given, status = obj.get("spec") or {}, obj.get("status") or {}
    spec = _picked(given, _POD_SPEC)
    for field in ("containers", "initContainers", "ephemeralContainers"):
        containers = [_container(container) for container in given.get(field) or ()]
        if field == "ephemeralContainers":
            containers = [container for container in containers if "volumeMounts" in container]
        if containers:
            spec[field] = containers
    volumes = [_volume(volume) for volume in given.get("volumes") or ()]
    if volumes:
        spec["volumes"] = volumes
    kept = _picked(status, _POD_STATUS)
    conditions = [_picked(c, _CONDITION) for c in status.get("conditions") or ()]
    return {"spec": spec, "status": kept | ({"conditions": conditions} if conditions else {})}


def _container(given: Object) -> Object:
    """Of the mounts only those with options, because not every node knows them, and nothing of where they are."""
    kept = _picked(given, _CONTAINER) | {"image": IMAGE}
    mounts = [
        {"name": mount.get("name", ""), "mountPath": f"{PATH}/{number}", "bindMountOptions": mount["bindMountOptions"]}
        for number, mount in enumerate(given.get("volumeMounts") or ())
        if mount.get("bindMountOptions")
    ]
    return kept | ({"volumeMounts": mounts} if mounts else {})


def _volume(volume: Object) -> Object:
    """The volume's name and kind; of a PersistentVolumeClaim also which, because nodes may depend on it."""
    kept: Object = {"name": volume.get("name", "")}
    for kind, content in volume.items():
        if kind == "persistentVolumeClaim":
            kept[kind] = _picked(content or {}, ("claimName",))
        elif kind != "name":
            kept[kind] = {}
    return kept


def _claim(obj: Object) -> Object:
    status = obj.get("status") or {}
    kept = _picked(_without_parameters(status), ("allocation", "reservedFor", "deallocationRequested"))
    devices = [
        _picked(d, _DEVICE_STATUS) | {"conditions": [_picked(c, _CONDITION) for c in d.get("conditions") or ()]}
        for d in status.get("devices") or ()
    ]
    if devices:
        kept["devices"] = devices
    return {"spec": _without_parameters(obj.get("spec") or {})} | ({"status": kept} if kept else {})


def _event(obj: Object) -> Object:
    return _picked(obj, _EVENT)


def _without_parameters(value: Any) -> Any:
    """Return a copy in which opaque configuration says for which driver it is, and nothing else."""
    if isinstance(value, dict):
        return {
            key: {"driver": item.get("driver", ""), "parameters": {}}
            if key == "opaque" and isinstance(item, dict)
            else _without_parameters(item)
            for key, item in value.items()
        }
    return [_without_parameters(item) for item in value] if isinstance(value, list) else value


def _picked(given: Mapping[str, Any], names: tuple[str, ...]) -> Object:
    return {name: given[name] for name in names if name in given and given[name] is not None}


_BODIES: Mapping[str, Callable[[Object], Object]] = {
    "Namespace": _namespace,
    "Node": _node,
    "Pod": _pod,
    "ResourceClaim": _claim,
    "Event": _event,
}
