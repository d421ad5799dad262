"""Which resources the server has: what is served under which group, version and plural, and by which rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dra_api import references as known
from dra_api.references import Resource
from dra_api.validation import Rules
from dra_api.versions import from_v1, to_v1
from dra_embedded.errors import EmbeddedUsageError
from dra_embedded.kinds.behaviour import Behaviour, GenerationBehaviour
from dra_embedded.kinds.core import LeaseBehaviour, NamespaceBehaviour, NodeBehaviour, SecretBehaviour
from dra_embedded.kinds.deployment import DeploymentBehaviour
from dra_embedded.kinds.dra import ClaimBehaviour, DraBehaviour, SliceBehaviour, TaintRuleBehaviour, TemplateBehaviour
from dra_embedded.kinds.events import EventBehaviour, from_core, to_core
from dra_embedded.kinds.pod import PodBehaviour
from dra_embedded.kinds.pod_group import PodGroupBehaviour
from dra_embedded.status import Subject

Object = dict[str, Any]
SERVED_DRA_VERSIONS = ("v1", "v1beta2", "v1beta1")
_STATUS = frozenset({"status"})


@dataclass(frozen=True, slots=True)
class Served:
    """A resource as this server has it.

    `versions`: served versions, preferred first. `bucket`: where its objects are stored; two resources may share one.
    `storage`: the apiVersion of stored objects. `to_storage` and `from_storage(object, version)` convert between
    a served version and the stored form, without changing their argument; None: nothing but the apiVersion differs.
    """

    resource: Resource
    versions: tuple[str, ...]
    behaviour: Behaviour
    bucket: str
    storage: str
    subresources: frozenset[str] = frozenset()
    short_names: tuple[str, ...] = ()
    to_storage: Callable[[Object], Object] | None = None
    from_storage: Callable[[Object, str], Object] | None = None
    subject: Subject = field(init=False)
    kind_subject: Subject = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", Subject(self.resource.group, self.resource.plural))
        object.__setattr__(self, "kind_subject", Subject(self.resource.group, self.resource.kind))

    def is_stored_as(self, version: str) -> bool:
        """Whether a served version is the stored form itself."""
        return self.resource.api_version(version) == self.storage


def _dra(resource: Resource, behaviour: Behaviour, versions: Iterable[str], **options: Any) -> Served:
    served = tuple(version for version in versions if version in resource.versions)
    return Served(
        resource,
        served,
        behaviour,
        f"{resource.plural}.{resource.group}",
        resource.api_version("v1"),
        to_storage=to_v1,
        from_storage=from_v1,
        **options,
    )


def plain(resource: Resource, behaviour: Behaviour | None = None, **options: Any) -> Served:
    """A resource that looks the same in all its versions."""
    bucket = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    storage = resource.api_version()
    return Served(resource, resource.versions, behaviour or Behaviour(), bucket, storage, **options)


def _other(kind: str, plural: str, group: str = "", *, namespaced: bool = True) -> Resource:
    return Resource(kind, plural, group, ("v1",), namespaced=namespaced)


_COUNTING = GenerationBehaviour()
_NETWORK, _RBAC = "networking.k8s.io", "rbac.authorization.k8s.io"
_OPAQUE = (
    plain(known.SERVICE, short_names=("svc",), subresources=_STATUS),
    plain(known.REPLICATION_CONTROLLER, _COUNTING, short_names=("rc",), subresources=_STATUS),
    plain(known.REPLICA_SET, _COUNTING, short_names=("rs",), subresources=_STATUS),
    plain(known.STATEFUL_SET, _COUNTING, short_names=("sts",), subresources=_STATUS),
    plain(known.POD_DISRUPTION_BUDGET, _COUNTING, short_names=("pdb",), subresources=_STATUS),
    plain(known.PERSISTENT_VOLUME, short_names=("pv",), subresources=_STATUS),
    plain(known.PERSISTENT_VOLUME_CLAIM, short_names=("pvc",), subresources=_STATUS),
    plain(known.STORAGE_CLASS, short_names=("sc",)),
    plain(known.CSI_NODE),
    plain(known.CSI_DRIVER),
    plain(known.CSI_STORAGE_CAPACITY),
    plain(known.PRIORITY_CLASS, _COUNTING, short_names=("pc",)),
    plain(_other("ConfigMap", "configmaps"), short_names=("cm",)),
    plain(_other("ServiceAccount", "serviceaccounts"), short_names=("sa",)),
    plain(
        _other("Deployment", "deployments", "apps"),
        DeploymentBehaviour(),
        short_names=("deploy",),
        subresources=_STATUS,
    ),
    plain(_other("DaemonSet", "daemonsets", "apps"), _COUNTING, short_names=("ds",), subresources=_STATUS),
    plain(_other("Job", "jobs", "batch"), _COUNTING, subresources=_STATUS),
    plain(_other("CronJob", "cronjobs", "batch"), _COUNTING, short_names=("cj",), subresources=_STATUS),
    plain(_other("Secret", "secrets"), SecretBehaviour()),
    plain(_other("Endpoints", "endpoints"), short_names=("ep",)),
    plain(_other("Ingress", "ingresses", _NETWORK), _COUNTING, short_names=("ing",), subresources=_STATUS),
    plain(_other("NetworkPolicy", "networkpolicies", _NETWORK), _COUNTING, short_names=("netpol",)),
    plain(_other("Role", "roles", _RBAC)),
    plain(_other("RoleBinding", "rolebindings", _RBAC)),
    plain(_other("ClusterRole", "clusterroles", _RBAC, namespaced=False)),
    plain(_other("ClusterRoleBinding", "clusterrolebindings", _RBAC, namespaced=False)),
)
"""Kinds that a scheduler reads or that manifests bring, kept as they are."""


def _modelled(dra_versions: tuple[str, ...], rules: Rules) -> list[Served]:
    pod_subresources = frozenset({"status", "binding"})
    events = plain(known.CORE_EVENT, EventBehaviour(), short_names=("ev",))
    return [
        plain(known.NAMESPACE, NamespaceBehaviour(), subresources=_STATUS | {"finalize"}, short_names=("ns",)),
        plain(known.NODE, NodeBehaviour(), subresources=_STATUS, short_names=("no",)),
        plain(known.POD, PodBehaviour(), subresources=pod_subresources, short_names=("po",)),
        events,
        replace(
            events,
            resource=known.EVENT,
            to_storage=to_core,
            from_storage=lambda obj, _version: from_core(obj),
        ),
        plain(known.LEASE, LeaseBehaviour()),
        plain(known.POD_GROUP, PodGroupBehaviour(), subresources=_STATUS),
        _dra(known.RESOURCE_CLAIM, ClaimBehaviour("ResourceClaim", rules), dra_versions, subresources=_STATUS),
        _dra(known.RESOURCE_CLAIM_TEMPLATE, TemplateBehaviour("ResourceClaimTemplate", rules), dra_versions),
        _dra(known.RESOURCE_SLICE, SliceBehaviour("ResourceSlice", rules, counts=True), dra_versions),
        _dra(known.DEVICE_CLASS, DraBehaviour("DeviceClass", rules, counts=True), dra_versions),
        _dra(
            known.DEVICE_TAINT_RULE,
            TaintRuleBehaviour("DeviceTaintRule", rules, counts=True),
            dra_versions,
            subresources=_STATUS,
        ),
    ]


class Registry:
    """The resources by (group, version, plural); more can be registered while the server runs."""

    def __init__(self, dra_versions: tuple[str, ...] = SERVED_DRA_VERSIONS, rules: Rules | None = None) -> None:
        self._by_path: dict[tuple[str, str, str], Served] = {}
        self._versions: set[tuple[str, str]] = set()
        for served in _modelled(dra_versions, rules or Rules()):
            self.add(served)
        for served in _OPAQUE:
            self.add(served)

    def add(self, served: Served) -> None:
        """Serve one more resource. Raises EmbeddedUsageError when its path is taken by another kind."""
        for version in served.versions:
            key = (served.resource.group, version, served.resource.plural)
            present = self._by_path.get(key)
            if present is not None and present.resource.kind != served.resource.kind:
                taken = f"{key[2]} of {served.resource.api_version(version)} is served as {present.resource.kind}"
                raise EmbeddedUsageError(f"{taken}, so {served.resource.kind} needs another plural")
            self._by_path.setdefault(key, served)
            self._versions.add(key[:2])

    def find(self, group: str, version: str, plural: str) -> Served | None:
        """The resource at a path, or None."""
        return self._by_path.get((group, version, plural))

    def has_version(self, group: str, version: str) -> bool:
        """Whether any resource is served under this group and version."""
        return (group, version) in self._versions

    def has_group(self, group: str) -> bool:
        """Whether any resource is served under this group."""
        return any(served == group for served, _version in self._versions)

    def all(self) -> list[tuple[str, str, Served]]:
        """Every (group, version, resource), in the order of registration."""
        return [(group, version, served) for (group, version, _), served in self._by_path.items()]

    def resources(self) -> list[Served]:
        """Every resource once, in the order of registration."""
        return list(dict.fromkeys(self._by_path.values()))
