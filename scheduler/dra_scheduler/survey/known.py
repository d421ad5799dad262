"""A snapshot in the scheduler's own tables, so that every question is answered by the code that schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dra_allocator.features import Features
from dra_api.errors import ApiError
from dra_api.references import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NAMESPACE,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    Resource,
    key_of,
)
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.survey.record import read_record
from dra_scheduler.survey.snapshot import Object, Snapshot

Apply = Callable[[dict[str, Any] | None, dict[str, Any]], None]


def known(snapshot: Snapshot, gates: FeatureGates | None = None) -> tuple[Cluster, list[str]]:
    """Return the tables, and the objects that they do not have because they cannot be read, with the reason.

    `gates` None: those of the snapshot's server (`gates_of`).
    """
    gates = gates or gates_of(snapshot)
    cluster = Cluster(gates.features(), gates)
    feeds: list[tuple[Resource, Apply]] = [
        (NODE, cluster.apply_node),
        (NAMESPACE, cluster.apply_namespace),
        (DEVICE_CLASS, cluster.apply_class),
        (POD_GROUP, cluster.apply_pod_group),
        (RESOURCE_SLICE, cluster.apply_slice),
        (RESOURCE_CLAIM, cluster.apply_claim),
        (POD, cluster.apply_pod),
    ]
    if cluster.features.device_taints:
        feeds.append((DEVICE_TAINT_RULE, cluster.apply_taint_rule))
    problems = list(snapshot.skipped)
    for resource, apply in feeds:
        for obj in snapshot.of(resource):
            try:
                apply(None, obj)
            except ApiError as error:
                problems.append(f"{key_of(obj, resource.kind)}: {error}")
    problems += [claim.problem for claim in cluster.claims if claim.problem]
    return cluster, problems


def gates_of(snapshot: Snapshot) -> FeatureGates:
    """Return the gates of the snapshot's server: what it says, else its version's defaults; of files: all on."""
    minor = NEWEST_MINOR if snapshot.minor is None else snapshot.minor
    if snapshot.server or snapshot.gates is not None:
        return FeatureGates.of({}, minor, snapshot.gates)
    return FeatureGates.having(Features.all_on())


def recorded_gates(objects: Iterable[Object]) -> dict[str, bool] | None:
    """Return the gates of the cluster that a dump is of; None: the objects are no dump."""
    record = read_record(objects)
    if record is None:
        return None
    said = Snapshot("", record.taken, server=record.server, minor=record.minor, gates=record.gates)
    return dict(gates_of(said).values)
