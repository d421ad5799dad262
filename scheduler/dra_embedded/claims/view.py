"""What the controller knows: the caches of its informers and what it has done itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_embedded.claims.created import CreatedClaims
from dra_embedded.claims.index import Index

Object = dict[str, Any]

REMEMBERED_DELETIONS = 10_000


@dataclass(slots=True)
class View:
    """Objects by `namespace/name`; `gone` has the uids of deleted pods, oldest first."""

    pods: Mapping[str, Object]
    claims: Mapping[str, Object]
    templates: Mapping[str, Object]
    index: Index = field(default_factory=Index)
    gone: dict[str, None] = field(default_factory=dict)
    created: CreatedClaims = field(init=False)

    def __post_init__(self) -> None:
        self.created = CreatedClaims(self.claims, lambda: asyncio.get_running_loop().time())

    def forget_pod(self, uid: str) -> None:
        """Remember that a pod is gone."""
        self.gone[uid] = None
        while len(self.gone) > REMEMBERED_DELETIONS:
            del self.gone[next(iter(self.gone))]
