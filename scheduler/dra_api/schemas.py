"""Schemas of the kinds that are read. resource.k8s.io is complete (Kubernetes 1.37, and what older versions had)."""

from __future__ import annotations

from dra_api.decode.devices import UNKNOWN_DEVICE
from dra_api.schema import Fields, Map, Schema
from dra_api.versions.claims import MAIN_FIELDS

_STRINGS: Schema = ["string"]
_METADATA = Fields(
    {
        "name": "string",
        "generateName": "string",
        "namespace": "string",
        "uid": "string",
        "resourceVersion": "string",
        "generation": "integer",
        "selfLink": "string",
        "creationTimestamp": "time",
        "deletionTimestamp": "time",
        "deletionGracePeriodSeconds": "integer",
        "labels": Map("string"),
        "annotations": Map("string"),
        "finalizers": _STRINGS,
        "managedFields": "any",
        "ownerReferences": [
            Fields(
                {
                    "apiVersion": "string",
                    "kind": "string",
                    "name": "string",
                    "uid": "string",
                    "controller": "boolean",
                    "blockOwnerDeletion": "boolean",
                }
            )
        ],
    }
)
_REQUIREMENTS: Schema = [Fields({"key": "string", "operator": "string", "values": _STRINGS})]
_NODE_SELECTOR = Fields(
    {"nodeSelectorTerms": [Fields({"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS})]}
)
_SELECTORS: Schema = [Fields({"cel": Fields({"expression": "string"})})]
_TOLERATIONS: Schema = [
    Fields(
        {"key": "string", "operator": "string", "value": "string", "effect": "string", "tolerationSeconds": "integer"}
    )
]
_TAINT = Fields({"key": "string", "value": "string", "effect": "string", "timeAdded": "time"})
_OPAQUE = Fields({"driver": "string", "parameters": "any"})
_CONDITIONS: Schema = [
    Fields(
        {
            "type": "string",
            "status": "string",
            "reason": "string",
            "message": "string",
            "lastTransitionTime": "time",
            "observedGeneration": "integer",
        }
    )
]

_EXACT: dict[str, Schema] = {
    "deviceClassName": "string",
    "selectors": _SELECTORS,
    "allocationMode": "string",
    "count": "integer",
    "adminAccess": "boolean",
    "tolerations": _TOLERATIONS,
    "capacity": Fields({"requests": Map("quantity")}),
    "derivedAttributes": [Fields({"name": "string", "expression": "string"})],
}
_SUBREQUEST: dict[str, Schema] = {"name": "string"} | {
    name: _EXACT[name] for name in MAIN_FIELDS if name != "adminAccess"
}
_CLAIM_SPEC = Fields(
    {
        "controller": "string",
        "devices": Fields(
            {
                "requests": [
                    Fields({"name": "string", "exactly": Fields(_EXACT), "firstAvailable": [Fields(_SUBREQUEST)]})
                ],
                "constraints": [
                    Fields({"requests": _STRINGS, "matchAttribute": "string", "distinctAttribute": "string"})
                ],
                "config": [Fields({"requests": _STRINGS, "opaque": _OPAQUE})],
            }
        ),
    }
)
_RESULT = Fields(
    {
        "request": "string",
        "driver": "string",
        "pool": "string",
        "device": "string",
        "adminAccess": "boolean",
        "tolerations": _TOLERATIONS,
        "bindingConditions": _STRINGS,
        "bindingFailureConditions": _STRINGS,
        "shareID": "string",
        "consumedCapacity": Map("quantity"),
        "skipNodeOperations": _STRINGS,
    }
)
_ALLOCATION = Fields(
    {
        "controller": "string",
        "allocationTimestamp": "time",
        "nodeSelector": _NODE_SELECTOR,
        "devices": Fields(
            {
                "results": [_RESULT],
                "config": [Fields({"source": "string", "requests": _STRINGS, "opaque": _OPAQUE})],
            }
        ),
    }
)
_CLAIM_STATUS = Fields(
    {
        "allocation": _ALLOCATION,
        "deallocationRequested": "boolean",
        "reservedFor": [Fields({"apiGroup": "string", "resource": "string", "name": "string", "uid": "string"})],
        "devices": [
            Fields(
                {
                    "driver": "string",
                    "pool": "string",
                    "device": "string",
                    "shareID": "string",
                    "conditions": _CONDITIONS,
                    "data": "any",
                    "networkData": Fields({"interfaceName": "string", "ips": _STRINGS, "hardwareAddress": "string"}),
                }
            )
        ],
    }
)

_ATTRIBUTE = Fields(
    {
        "int": "integer",
        "bool": "boolean",
        "string": "string",
        "version": "string",
        "ints": ["integer"],
        "bools": ["boolean"],
        "strings": _STRINGS,
        "versions": _STRINGS,
    }
)
_POLICY = Fields(
    {
        "default": "quantity",
        "validValues": ["quantity"],
        "validRange": Fields({"min": "quantity", "max": "quantity", "step": "quantity"}),
    }
)
_NODE_RESOURCE = Fields(
    {
        "mapping": Fields({"capacityKey": "string", "capacityMultiplier": "quantity", "deviceMultiplier": "quantity"}),
        "overhead": Fields({"perPod": "quantity", "perContainer": "quantity"}),
    }
)
_COUNTERS = Map(Fields({"value": "quantity"}))
_SCOPE: dict[str, Schema] = {"nodeName": "string", "nodeSelector": _NODE_SELECTOR, "allNodes": "boolean"}
_DEVICE = Fields(
    _SCOPE
    | {
        "name": "string",
        "attributes": Map(_ATTRIBUTE),
        "capacity": Map(Fields({"value": "quantity", "requestPolicy": _POLICY})),
        "consumesCounters": [Fields({"counterSet": "string", "counters": _COUNTERS, "compatibilityGroups": _STRINGS})],
        "taints": [_TAINT],
        "bindsToNode": "boolean",
        "bindingConditions": _STRINGS,
        "bindingFailureConditions": _STRINGS,
        "allowMultipleAllocations": "boolean",
        "nodeAllocatableResources": Map(_NODE_RESOURCE),
        "nodeAllocatableResourceMappings": "any",
        UNKNOWN_DEVICE: "string",
    }
)
_SLICE_SPEC = Fields(
    _SCOPE
    | {
        "driver": "string",
        "pool": Fields({"name": "string", "generation": "integer", "resourceSliceCount": "integer"}),
        "devices": [_DEVICE],
        "perDeviceNodeSelection": "boolean",
        "sharedCounters": [Fields({"name": "string", "counters": _COUNTERS})],
        "partitionTypeAttribute": "string",
        "skipNodeOperations": _STRINGS,
    }
)
_CLASS_SPEC = Fields(
    {
        "selectors": _SELECTORS,
        "config": [Fields({"opaque": _OPAQUE})],
        "extendedResourceName": "string",
        "suitableNodes": _NODE_SELECTOR,
    }
)
_RULE_SPEC = Fields(
    {
        "deviceSelector": Fields(
            {
                "driver": "string",
                "pool": "string",
                "device": "string",
                "deviceClassName": "string",
                "selectors": _SELECTORS,
            }
        ),
        "taint": _TAINT,
    }
)

_CONTAINER = Fields(
    {
        "name": "string",
        "restartPolicy": "string",
        "restartPolicyRules": [Fields({"action": "string"}, open_=True)],
        "volumeMounts": [Fields({"bindMountOptions": _STRINGS}, open_=True)],
        "resources": Fields(
            {
                "requests": Map("quantity"),
                "limits": Map("quantity"),
                "claims": [Fields({"name": "string", "request": "string"})],
            },
            open_=True,
        ),
    },
    open_=True,
)
_POD_SPEC = Fields(
    {
        "schedulerName": "string",
        "nodeName": "string",
        "nodeSelector": Map("string"),
        "priority": "integer",
        "priorityClassName": "string",
        "preemptionPolicy": "string",
        "overhead": Map("quantity"),
        "containers": [_CONTAINER],
        "initContainers": [_CONTAINER],
        "ephemeralContainers": [_CONTAINER],
        "hostNetwork": "boolean",
        "hostUsers": "boolean",
        "tolerations": _TOLERATIONS,
        "schedulingGates": [Fields({"name": "string"})],
        "schedulingGroup": Fields({"podGroupName": "string"}, open_=True),
        "affinity": Fields(open_=True),
        "topologySpreadConstraints": [Fields({"maxSkew": "integer", "topologyKey": "string"}, open_=True)],
        "resourceClaims": [
            Fields({"name": "string", "resourceClaimName": "string", "resourceClaimTemplateName": "string"})
        ],
    },
    open_=True,
)
_NODE_STATUS = Fields(
    {"allocatable": Map("quantity"), "capacity": Map("quantity"), "declaredFeatures": _STRINGS}, open_=True
)
_NODE_SPEC = Fields({"unschedulable": "boolean", "taints": [_TAINT]}, open_=True)


def _kind(closed: bool, **parts: Schema) -> Fields:
    head: dict[str, Schema] = {"apiVersion": "string", "kind": "string", "metadata": _METADATA}
    return Fields(head | parts, open_=not closed)


ANY_KIND = _kind(False)
"""For kinds that are not listed: only the head is looked at."""

SCHEMAS: dict[str, Fields] = {
    "ResourceClaim": _kind(True, spec=_CLAIM_SPEC, status=_CLAIM_STATUS),
    "ResourceClaimTemplate": _kind(True, spec=Fields({"metadata": _METADATA, "spec": _CLAIM_SPEC})),
    "ResourceSlice": _kind(True, spec=_SLICE_SPEC),
    "DeviceClass": _kind(True, spec=_CLASS_SPEC),
    "DeviceTaintRule": _kind(True, spec=_RULE_SPEC, status=Fields({"conditions": _CONDITIONS})),
    "Pod": _kind(False, spec=_POD_SPEC, status=Fields(open_=True)),
    "Node": _kind(False, spec=_NODE_SPEC, status=_NODE_STATUS),
    "Namespace": _kind(False, spec=Fields(open_=True)),
    "PriorityClass": _kind(False, value="integer", globalDefault="boolean", preemptionPolicy="string"),
    "PodGroup": _kind(False, spec=Fields(open_=True)),
}
"""By kind; the resource.k8s.io kinds in the v1 shape."""
