"""What one look at a cluster brought: objects by kind, as v1, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from dra_api.references import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NAMESPACE,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    Resource,
    key_of,
)

Object = dict[str, Any]
GapReason = Literal["forbidden", "not-served", "refused"]

KINDS: tuple[Resource, ...] = (
    NODE,
    NAMESPACE,
    DEVICE_CLASS,
    RESOURCE_SLICE,
    DEVICE_TAINT_RULE,
    POD_GROUP,
    POD,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
)
"""All that a decision about devices depends on, in the order in which a scheduler can take it in."""

OPTIONAL: tuple[Resource, ...] = (POD_GROUP, DEVICE_TAINT_RULE)
"""Kinds that many servers do not have: nothing is missing then."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A kind that could not be read at all: `forbidden` (a rule is missing), `not-served`, or `refused`."""

    kind: str
    reason: GapReason
    problem: str

    def __str__(self) -> str:
        return self.problem


@dataclass(slots=True)
class Snapshot:
    """Objects by kind, each list sorted by namespace and name; a kind that was not read is not there.

    `source` says where they are from, `taken` when they were read (of files: the newest time in them). `skipped` are
    objects that are left out because they cannot be read, with the reason. `live`: read from an API server just now.
    `server` is the API server's version (`v1.37.2`), `minor` the number in it, `version` the one of resource.k8s.io;
    empty and None: not known. `gates` are the feature gates that the server says it has, None: it did not say.
    """

    source: str
    taken: datetime
    objects: dict[str, list[Object]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    live: bool = False
    server: str = ""
    minor: int | None = None
    version: str = ""
    gates: Mapping[str, bool] | None = None

    def of(self, resource: Resource) -> list[Object]:
        """Return the objects of a kind; none if it was not read."""
        return self.objects.get(resource.kind, [])

    def has(self, resource: Resource) -> bool:
        """Whether the kind was read, also if there is no object of it."""
        return resource.kind in self.objects

    def find(self, resource: Resource, namespace: str, name: str) -> Object | None:
        """Return one object, None if there is none of this name."""
        return next((obj for obj in self.of(resource) if key_of(obj)[1:] == (namespace, name)), None)

    def sort(self) -> None:
        """Bring every kind into the order of namespace and name."""
        for objects in self.objects.values():
            objects.sort(key=lambda obj: key_of(obj)[1:])
