"""What the scheduler reads of a pod, once per version of the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dra_api.errors import DecodeError
from dra_cel.quantity import QuantityError
from dra_scheduler.cache.node_selection import NodeSelection, node_selection
from dra_scheduler.cache.pod_affinity import PodAffinity, pod_affinity
from dra_scheduler.cache.requests import Amounts, Statuses, most, pod_requests, scored_requests
from dra_scheduler.cache.required_features import required_features
from dra_scheduler.cache.resizing import counted_specs
from dra_scheduler.errors import UnreadableObjectError
from dra_scheduler.plugins import Plugin

ANY_ADDRESS = "0.0.0.0"
"""The `hostIP` that stands for every address of a node; also what an absent one means."""

PLAIN_VOLUMES = {"configMap", "downwardAPI", "emptyDir", "hostPath", "projected", "secret", "image", "nfs"}
"""Kinds of volumes that no kube-scheduler plugin looks at."""


class HostPort(NamedTuple):
    """A port of the node that a container wants; `ip` 0.0.0.0: on every address."""

    ip: str
    protocol: str
    port: int


@dataclass(frozen=True, slots=True)
class PodClaim:
    """An entry of `spec.resourceClaims` with the claim's name, None where a template's claim is not needed.

    `problem` says why no claim is known (kube-scheduler's text). `template_name` is the ResourceClaimTemplate's.
    """

    name: str
    claim_name: str | None
    from_template: bool
    problem: str = ""
    template_name: str = ""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Something the pod requires that this scheduler does not evaluate, and whose business it is."""

    plugin: Plugin
    text: str


@dataclass(frozen=True, slots=True)
class PodInfo:
    """One version of a pod.

    `raw` is the object as observed and is never changed; of a pod that runs on a node only its identity is kept.
    `started`: it is past Pending.
    """

    uid: str
    namespace: str
    name: str
    resource_version: str
    scheduler_name: str
    node_name: str
    priority: int
    created: str
    started: bool
    terminal: bool
    deleting: bool
    gates: tuple[str, ...]
    labels: Mapping[str, str]
    selection: NodeSelection
    affinity: PodAffinity
    requests: Amounts
    scored_cpu: int
    scored_memory: int
    ports: tuple[HostPort, ...]
    claims: tuple[PodClaim, ...]
    unsupported: tuple[Unsupported, ...]
    never_preempts: bool
    raw: Mapping[str, Any]
    group: str = ""
    """The PodGroup in the pod's namespace that it belongs to; "": none."""
    nominated: str = ""
    """The node that a scheduler has said it will go to (`status.nominatedNodeName`); "": none."""
    required_features: frozenset[str] = frozenset()
    """What a node has to declare before the pod may go there; of a pod that has a node nobody asks."""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


def pod_info(raw: Mapping[str, Any]) -> PodInfo:
    """Read a pod. Raises UnreadableObjectError."""
    meta = raw.get("metadata") or {}
    try:
        return _pod_info(raw, meta, raw.get("spec") or {}, raw.get("status") or {})
    except (DecodeError, QuantityError, TypeError, ValueError, KeyError, AttributeError) as error:
        namespace, name = str(meta.get("namespace") or ""), str(meta.get("name") or "")
        raise UnreadableObjectError("Pod", namespace, name, f"{type(error).__name__}: {error}") from error


def _pod_info(
    raw: Mapping[str, Any], meta: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]
) -> PodInfo:
    # Of a pod without a node, what is left there of an earlier attempt says nothing.
    statuses = (status.get("nodeAllocatableResourceClaimStatuses") or ()) if spec.get("nodeName") else ()
    counted = counted_specs(spec, status) if spec.get("nodeName") else [spec]
    scored = [scored_requests(each, statuses) for each in counted]
    phase = status.get("phase") or "Pending"
    return PodInfo(
        uid=meta["uid"],
        namespace=meta["namespace"],
        name=meta["name"],
        resource_version=meta.get("resourceVersion") or "",
        scheduler_name=spec.get("schedulerName") or "",
        node_name=spec.get("nodeName") or "",
        priority=spec.get("priority") or 0,
        created=meta.get("creationTimestamp") or "",
        started=phase != "Pending",
        terminal=phase in {"Succeeded", "Failed"},
        deleting=meta.get("deletionTimestamp") is not None,
        gates=tuple(gate["name"] for gate in spec.get("schedulingGates") or ()),
        labels=meta.get("labels") or {},
        selection=node_selection(spec),
        affinity=pod_affinity(spec, meta["namespace"]),
        requests=most(pod_requests(each, statuses) for each in counted),
        scored_cpu=max(cpu for cpu, _ in scored),
        scored_memory=max(memory for _, memory in scored),
        ports=_host_ports(spec),
        claims=_claims(meta, spec, status),
        unsupported=_unsupported(spec),
        never_preempts=spec.get("preemptionPolicy") == "Never",
        raw=raw if phase == "Pending" or not spec.get("nodeName") else {"metadata": _identity(meta)},
        group=(spec.get("schedulingGroup") or {}).get("podGroupName") or "",
        nominated=status.get("nominatedNodeName") or "",
        required_features=frozenset() if spec.get("nodeName") else required_features(spec),
    )


def with_node_resources(pod: PodInfo, statuses: Statuses) -> PodInfo:
    """Return a pod that was decided, as it counts on its node: with what its devices take. Raises QuantityError."""
    if not statuses:
        return pod
    cpu, memory = scored_requests(pod.raw["spec"], statuses)
    requests = pod_requests(pod.raw["spec"], statuses)
    return replace(pod, requests=requests, scored_cpu=cpu, scored_memory=memory)


def _identity(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {key: meta[key] for key in ("namespace", "name", "uid", "resourceVersion") if key in meta}


def _host_ports(spec: Mapping[str, Any]) -> tuple[HostPort, ...]:
    sidecars = [c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    return tuple(
        HostPort(port.get("hostIP") or ANY_ADDRESS, port.get("protocol") or "TCP", port["hostPort"])
        for container in [*(spec.get("containers") or ()), *sidecars]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    )


def _claims(meta: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]) -> tuple[PodClaim, ...]:
    entries = spec.get("resourceClaims") or ()
    if not entries:
        return ()
    generated = {s["name"]: s.get("resourceClaimName") for s in status.get("resourceClaimStatuses") or ()}
    pod = f'pod "{meta["namespace"]}/{meta["name"]}"'
    claims = []
    for entry in entries:
        name = entry["name"]
        if entry.get("resourceClaimName") is not None:
            claims.append(PodClaim(name, entry["resourceClaimName"], from_template=False))
        elif entry.get("resourceClaimTemplateName") is None:
            problem = f'{pod}, spec.resourceClaim "{name}": none of the supported fields are set'
            claims.append(PodClaim(name, None, from_template=False, problem=problem))
        else:
            problem = "" if name in generated else f"{pod}: ResourceClaim not created yet"
            template = entry["resourceClaimTemplateName"]
            claims.append(PodClaim(name, generated.get(name), True, problem, template))
    return tuple(claims)


def _unsupported(spec: Mapping[str, Any]) -> tuple[Unsupported, ...]:
    found = []
    spread = spec.get("topologySpreadConstraints") or ()
    if any(c.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule" for c in spread):
        text = "topologySpreadConstraints with DoNotSchedule are not supported by this scheduler"
        found.append(Unsupported("PodTopologySpread", text))
    for volume in spec.get("volumes") or ():
        kinds = [key for key in volume if key != "name" and key not in PLAIN_VOLUMES]
        if kinds:
            text = f"volumes of kind {kinds[0]} are not supported by this scheduler"
            found.append(Unsupported("VolumeBinding", text))
            break
    group = spec.get("schedulingGroup")
    if group and not group.get("podGroupName"):
        ways = ", ".join(sorted(group))
        found.append(Unsupported("GangScheduling", f"schedulingGroup by {ways} is not supported by this scheduler"))
    if spec.get("workloadRef"):
        text = "workloadRef (Kubernetes 1.35) is not supported by this scheduler"
        found.append(Unsupported("GangScheduling", text))
    return tuple(found)
