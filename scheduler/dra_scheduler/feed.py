"""Which kinds are watched, and which handler of the cluster each feeds."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from random import Random
from typing import Any

from dra_api.clock import Clock
from dra_api.references import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NAMESPACE,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_QUOTA,
    RESOURCE_SLICE,
    Resource,
)
from dra_api.transport import Transport
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.client.discovery import Served
from dra_scheduler.client.mirror import Key
from dra_scheduler.client.reflector import Reflector
from dra_scheduler.client.trouble import TroubleLog

Apply = Callable[[dict[str, Any] | None, dict[str, Any] | None], None]


@dataclass(frozen=True, slots=True)
class _Handler:
    """A function as the handler that a reflector wants."""

    function: Apply

    def apply(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        self.function(old, new)


def reflectors(transport: Transport, served: Served, cluster: Cluster, clock: Clock, random: Random) -> list[Reflector]:
    """Return the reflectors of all kinds that this server has, not yet running."""
    version = served.resource_version
    feeds: list[tuple[Resource, Apply, str | None]] = [
        (NODE, cluster.apply_node, None),
        (NAMESPACE, cluster.apply_namespace, None),
        (DEVICE_CLASS, cluster.apply_class, version),
        (RESOURCE_SLICE, cluster.apply_slice, version),
        (RESOURCE_CLAIM, cluster.apply_claim, version),
        (POD, cluster.apply_pod, None),
    ]
    if served.pod_group_version is not None:
        feeds.insert(0, (POD_GROUP, cluster.apply_pod_group, served.pod_group_version))
    if served.taint_rule_version is not None and cluster.gates.enabled("DRADeviceTaintRules"):
        feeds.append((DEVICE_TAINT_RULE, cluster.apply_taint_rule, served.taint_rule_version))
    trouble = TroubleLog(clock)
    return [
        Reflector(
            transport,
            resource,
            _Handler(apply),
            clock,
            random,
            version=served_version,
            trouble=trouble,
            keep=_identity,
            known=cluster.claims.knows if resource is RESOURCE_CLAIM else _never,
            listed=cluster.claims_listed if resource is RESOURCE_CLAIM else _ignored,
        )
        for resource, apply, served_version in feeds
    ]


def quota_reflector(transport: Transport, cluster: Cluster, clock: Clock, random: Random) -> Reflector:
    """Return the reflector of ResourceQuotas, not yet running; see `quota_watch`."""
    return Reflector(transport, RESOURCE_QUOTA, _Handler(cluster.apply_quota), clock, random, keep=_identity)


def _never(_: dict[str, Any]) -> bool:
    return False


def _ignored(present: Set[Key], version: str) -> None:
    pass


def _identity(obj: dict[str, Any]) -> dict[str, Any]:
    """Return what a reflector has to remember of an object; the cluster keeps what it needs itself."""
    meta = obj["metadata"]
    return {"metadata": {key: meta[key] for key in ("namespace", "name", "uid", "resourceVersion") if key in meta}}
