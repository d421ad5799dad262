"""The kinds of objects that we use: their groups, versions, plurals and paths, and keys of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

RESOURCE_GROUP = "resource.k8s.io"
FINALIZER = "resource.kubernetes.io/delete-protection"
"""The finalizer that a ResourceClaim has while it is allocated."""


class ObjectKey(NamedTuple):
    """An object in the cluster; `namespace` is empty for cluster-scoped kinds."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def key_of(obj: Mapping[str, Any], kind: str = "") -> ObjectKey:
    """Return the key of a raw object; list items have no kind of their own, so it can be given."""
    metadata = obj.get("metadata") or {}
    return ObjectKey(kind or obj.get("kind") or "", metadata.get("namespace") or "", metadata.get("name") or "")


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the API serves it; `versions` are those that we know, newest first. `group` "" is the core group."""

    kind: str
    plural: str
    group: str
    versions: tuple[str, ...]
    namespaced: bool

    @property
    def singular(self) -> str:
        """The name in singular, as kubectl accepts it."""
        return self.kind.lower()

    def api_version(self, version: str | None = None) -> str:
        """Return `group/version` as it stands in objects (`v1` for the core group); None: our newest."""
        version = version or self.versions[0]
        return f"{self.group}/{version}" if self.group else version

    def path(self, *, namespace: str = "", name: str = "", subresource: str = "", version: str | None = None) -> str:
        """Return the request path. Without `namespace` a namespaced kind is listed over all namespaces."""
        parts = [f"/apis/{self.group}" if self.group else "/api", version or self.versions[0]]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


POD = Resource("Pod", "pods", "", ("v1",), namespaced=True)
NODE = Resource("Node", "nodes", "", ("v1",), namespaced=False)
NAMESPACE = Resource("Namespace", "namespaces", "", ("v1",), namespaced=False)
CORE_EVENT = Resource("Event", "events", "", ("v1",), namespaced=True)
EVENT = Resource("Event", "events", "events.k8s.io", ("v1",), namespaced=True)
LEASE = Resource("Lease", "leases", "coordination.k8s.io", ("v1",), namespaced=True)
PRIORITY_CLASS = Resource("PriorityClass", "priorityclasses", "scheduling.k8s.io", ("v1",), namespaced=False)
POD_GROUP = Resource("PodGroup", "podgroups", "scheduling.k8s.io", ("v1beta1", "v1alpha3", "v1alpha2"), namespaced=True)
RESOURCE_QUOTA = Resource("ResourceQuota", "resourcequotas", "", ("v1",), namespaced=True)
SERVICE = Resource("Service", "services", "", ("v1",), namespaced=True)
REPLICATION_CONTROLLER = Resource("ReplicationController", "replicationcontrollers", "", ("v1",), namespaced=True)
REPLICA_SET = Resource("ReplicaSet", "replicasets", "apps", ("v1",), namespaced=True)
STATEFUL_SET = Resource("StatefulSet", "statefulsets", "apps", ("v1",), namespaced=True)
POD_DISRUPTION_BUDGET = Resource("PodDisruptionBudget", "poddisruptionbudgets", "policy", ("v1",), namespaced=True)
PERSISTENT_VOLUME = Resource("PersistentVolume", "persistentvolumes", "", ("v1",), namespaced=False)
PERSISTENT_VOLUME_CLAIM = Resource("PersistentVolumeClaim", "persistentvolumeclaims", "", ("v1",), namespaced=True)
STORAGE_CLASS = Resource("StorageClass", "storageclasses", "storage.k8s.io", ("v1",), namespaced=False)
CSI_NODE = Resource("CSINode", "csinodes", "storage.k8s.io", ("v1",), namespaced=False)
CSI_DRIVER = Resource("CSIDriver", "csidrivers", "storage.k8s.io", ("v1",), namespaced=False)
CSI_STORAGE_CAPACITY = Resource(
    "CSIStorageCapacity", "csistoragecapacities", "storage.k8s.io", ("v1",), namespaced=True
)

_DRA = ("v1", "v1beta2", "v1beta1", "v1alpha3")
RESOURCE_CLAIM = Resource("ResourceClaim", "resourceclaims", RESOURCE_GROUP, _DRA, namespaced=True)
RESOURCE_CLAIM_TEMPLATE = Resource(
    "ResourceClaimTemplate", "resourceclaimtemplates", RESOURCE_GROUP, _DRA, namespaced=True
)
RESOURCE_SLICE = Resource("ResourceSlice", "resourceslices", RESOURCE_GROUP, _DRA, namespaced=False)
DEVICE_CLASS = Resource("DeviceClass", "deviceclasses", RESOURCE_GROUP, _DRA, namespaced=False)
DEVICE_TAINT_RULE = Resource(
    "DeviceTaintRule", "devicetaintrules", RESOURCE_GROUP, ("v1", "v1beta2", "v1alpha3"), namespaced=False
)
POD_SCHEDULING_CONTEXT = Resource(
    "PodSchedulingContext", "podschedulingcontexts", RESOURCE_GROUP, ("v1alpha3",), namespaced=True
)
RESOURCE_POOL_STATUS_REQUEST = Resource(
    "ResourcePoolStatusRequest", "resourcepoolstatusrequests", RESOURCE_GROUP, ("v1alpha3",), namespaced=False
)

RESOURCES: tuple[Resource, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Resource))
"""All of the above, in that order."""

DRA_RESOURCES: tuple[Resource, ...] = tuple(resource for resource in RESOURCES if resource.group == RESOURCE_GROUP)

_BY_KIND = {(resource.group, resource.kind): resource for resource in RESOURCES}


def find_resource(api_version: str, kind: str) -> Resource | None:
    """Return the resource of an object's `apiVersion` (any version of its group) and `kind`, or None."""
    group = api_version.rpartition("/")[0]
    return _BY_KIND.get((group, kind))
