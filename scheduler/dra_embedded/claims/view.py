"""What the controller knows: the caches of its informers and what it has done itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_embedded.claims.created import CreatedClaims
from dra_embedded.claims.index import Index
from dra_embedded.claims.names import group_name

Object = dict[str, Any]

REMEMBERED_DELETIONS = 10_000


@dataclass(slots=True)
class View:
    """Objects by `namespace/name`; `gone` has the uids of deleted pods and PodGroups, oldest first."""

    pods: Mapping[str, Object]
    claims: Mapping[str, Object]
    templates: Mapping[str, Object]
    groups: Mapping[str, Object] = field(default_factory=dict)
    index: Index = field(default_factory=Index)
    gone: dict[str, None] = field(default_factory=dict)
    created: CreatedClaims = field(init=False)

    def __post_init__(self) -> None:
        self.created = CreatedClaims(self.claims, lambda: asyncio.get_running_loop().time())

    def group_of(self, pod: Object) -> Object | None:
        """The PodGroup of a pod, as far as it is known."""
        name = group_name(pod)
        return None if name is None else self.groups.get(f"{pod['metadata']['namespace']}/{name}")

    def forget(self, uid: str) -> None:
        """Remember that a pod or PodGroup is gone."""
        self.gone[uid] = None
        while len(self.gone) > REMEMBERED_DELETIONS:
            del self.gone[next(iter(self.gone))]
