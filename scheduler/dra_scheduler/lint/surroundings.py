"""The objects of a cluster: what manifests are meant for, or themselves what is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_api.manifests import Document
from dra_scheduler.feature_gates import NEWEST_MINOR, OURS, FeatureGates
from dra_scheduler.survey.snapshot import Snapshot

SOURCE = "cluster"
"""What stands in the place of a file name for an object of a cluster."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else exists.

    Attributes:
        documents: the objects.
        whole: kinds of which every object is known: what is not there does not exist.
        has_gaps: some objects could not be read.

    """

    documents: tuple[Document, ...] = ()
    whole: frozenset[str] = frozenset()
    has_gaps: bool = False


NOTHING = Surroundings()
"""Manifests alone."""


def of_snapshot(snapshot: Snapshot) -> Surroundings:
    """Return a cluster's objects as documents, and what is known to be all."""
    documents = [
        Document(
            {**obj, "kind": kind, "metadata": obj.get("metadata") or {}}, SOURCE, str(obj.get("apiVersion") or ""), 0
        )
        for kind, objects in snapshot.objects.items()
        for obj in objects
    ]
    return Surroundings(tuple(documents), frozenset(snapshot.objects), bool(snapshot.skipped))


def gates_of(snapshot: Snapshot, overrides: Mapping[str, bool]) -> tuple[FeatureGates, int]:
    """Return the gates of a cluster, as far as it tells them, and its version, Kubernetes 1.`minor`.

    Raises FeatureGateError.
    """
    minor = snapshot.minor or NEWEST_MINOR
    told = {
        name: on for name, on in (snapshot.gates or {}).items() if name in OURS and name != "DynamicResourceAllocation"
    }
    return FeatureGates.of({**told, **overrides}, minor), minor
