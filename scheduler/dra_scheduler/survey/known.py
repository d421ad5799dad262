"""A snapshot in the scheduler's own tables, so that every question is answered by the code that schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dra_allocator.features import GATES, Features
from dra_api.errors import ApiError
from dra_api.references import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NAMESPACE,
    NODE,
    POD,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    Resource,
    key_of,
)
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.survey.snapshot import Snapshot

Apply = Callable[[dict[str, Any] | None, dict[str, Any]], None]


def known(snapshot: Snapshot, features: Features | None = None) -> tuple[Cluster, list[str]]:
    """Return the tables, and the objects that they do not have because they cannot be read, with the reason.

    `features` None: those of the snapshot's server (`features_of`).
    """
    cluster = Cluster(features or features_of(snapshot))
    feeds: list[tuple[Resource, Apply]] = [
        (NODE, cluster.apply_node),
        (NAMESPACE, cluster.apply_namespace),
        (DEVICE_CLASS, cluster.apply_class),
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


def features_of(snapshot: Snapshot) -> Features:
    """Return the features of the snapshot's server: what it says, else its version's defaults; of files: all."""
    if snapshot.gates is not None:
        # A server that does not know a gate does not have the feature.
        return Features.from_gates({gate: snapshot.gates.get(gate, False) for gate in GATES})
    return Features() if snapshot.server else Features.all_on()
