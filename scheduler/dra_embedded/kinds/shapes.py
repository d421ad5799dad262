"""The shapes of request bodies: `dra_api.schemas`' kinds with what an API server has to read beyond them, and the rest.

Fields that are not listed in an open shape are kept as they come.
"""

from __future__ import annotations

from dra_api.schema import Fields, Map, Schema
from dra_api.schemas import SCHEMAS

_OPEN = Fields(open_=True)
_STRINGS: Schema = ["string"]
_OBJECTS: Schema = [_OPEN]


def _extended(base: Fields, **more: Schema) -> Fields:
    return Fields({**base.fields, **more}, open_=base.open_)


def _part(base: Fields, name: str) -> Fields:
    part = base.fields.get(name, _OPEN)
    return part if isinstance(part, Fields) else _OPEN


METADATA = _part(SCHEMAS["Pod"], "metadata")

_REQUIREMENTS: Schema = [Fields({"key": "string", "operator": "string", "values": _STRINGS}, open_=True)]
_TERM = Fields({"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS}, open_=True)
_REQUIRED_TERMS = Fields({"nodeSelectorTerms": [_TERM]}, open_=True)
_NODE_AFFINITY = Fields({"requiredDuringSchedulingIgnoredDuringExecution": _REQUIRED_TERMS}, open_=True)
_CONTAINERS: Schema = [
    Fields(
        {
            "name": "string",
            "image": "string",
            "imagePullPolicy": "string",
            "ports": _OBJECTS,
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
]
_POD_SPEC = _extended(
    _part(SCHEMAS["Pod"], "spec"),
    containers=_CONTAINERS,
    initContainers=_CONTAINERS,
    affinity=Fields({"nodeAffinity": _NODE_AFFINITY, "podAffinity": _OPEN, "podAntiAffinity": _OPEN}, open_=True),
    restartPolicy="string",
    serviceAccountName="string",
    hostNetwork="boolean",
    activeDeadlineSeconds="integer",
    terminationGracePeriodSeconds="integer",
    volumes=_OBJECTS,
)
_NAMED_CLAIMS: Schema = [Fields({"name": "string", "resourceClaimName": "string"}, open_=True)]
_CONDITIONS: Schema = [Fields({"type": "string", "status": "string"}, open_=True)]
_POD_STATUS = Fields(
    {
        "phase": "string",
        "qosClass": "string",
        "podIP": "string",
        "nominatedNodeName": "string",
        "conditions": _CONDITIONS,
        "containerStatuses": _OBJECTS,
        "initContainerStatuses": _OBJECTS,
        "resourceClaimStatuses": _NAMED_CLAIMS,
        "extendedResourceClaimStatus": Fields({"resourceClaimName": "string"}, open_=True),
    },
    open_=True,
)
_REFERENCE = Fields(
    dict.fromkeys(("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"), "string"),
    open_=True,
)
_SOURCE = Fields({"component": "string", "host": "string"}, open_=True)
_EVENT = Fields(
    {
        "metadata": METADATA,
        "involvedObject": _REFERENCE,
        "related": _REFERENCE,
        "source": _SOURCE,
        "series": Fields({"count": "integer", "lastObservedTime": "string"}, open_=True),
        "count": "integer",
        **dict.fromkeys(("firstTimestamp", "lastTimestamp", "eventTime", "reason", "message", "type"), "string"),
        **dict.fromkeys(("action", "reportingComponent", "reportingInstance"), "string"),
    },
    open_=True,
)
_LEASE_SPEC = Fields(
    {
        "leaseDurationSeconds": "integer",
        "leaseTransitions": "integer",
        **dict.fromkeys(("holderIdentity", "acquireTime", "renewTime"), "string"),
    },
    open_=True,
)
_GENERIC = Fields({"metadata": METADATA, "spec": "any", "status": "any"}, open_=True)

_SHAPES: dict[str, Fields] = {
    **SCHEMAS,
    "Pod": _extended(SCHEMAS["Pod"], spec=_POD_SPEC, status=_POD_STATUS),
    "Node": _extended(
        SCHEMAS["Node"],
        spec=_extended(_part(SCHEMAS["Node"], "spec"), providerID="string", podCIDR="string"),
        status=_extended(_part(SCHEMAS["Node"], "status"), conditions=_CONDITIONS),
    ),
    "Namespace": _extended(
        SCHEMAS["Namespace"],
        spec=Fields({"finalizers": _STRINGS}, open_=True),
        status=Fields({"phase": "string", "conditions": _CONDITIONS}, open_=True),
    ),
    "Event": _EVENT,
    "Lease": Fields({"metadata": METADATA, "spec": _LEASE_SPEC}, open_=True),
}

DELETE_OPTIONS = Fields(
    {
        "kind": "string",
        "apiVersion": "string",
        "gracePeriodSeconds": "integer",
        "propagationPolicy": "string",
        "orphanDependents": "boolean",
        "preconditions": Fields({"uid": "string", "resourceVersion": "string"}, open_=True),
        "dryRun": _STRINGS,
    },
    open_=True,
)
BINDING = Fields(
    {"kind": "string", "apiVersion": "string", "metadata": METADATA, "target": _REFERENCE},
    open_=True,
)


def shape_of(kind: str) -> Fields:
    """The shape of a kind in its storage version."""
    return _SHAPES.get(kind, _GENERIC)
