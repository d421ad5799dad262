"""Names of what is written to: enough to address an object and to make sure that it is still the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PodRef:
    """A pod; `uid` tells it from a later pod of the same name."""

    namespace: str
    name: str
    uid: str

    @classmethod
    def of(cls, pod: Mapping[str, Any]) -> PodRef:
        """The reference to a pod as observed."""
        meta = pod["metadata"]
        return cls(meta["namespace"], meta["name"], meta["uid"])

    @property
    def path(self) -> str:
        """The pod's path on the API server."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ClaimRef:
    """A ResourceClaim; `uid` tells it from a later one of the same name."""

    namespace: str
    name: str
    uid: str

    @classmethod
    def of(cls, claim: Mapping[str, Any]) -> ClaimRef:
        """The reference to a claim as observed."""
        meta = claim["metadata"]
        return cls(meta["namespace"], meta["name"], meta["uid"])

    def path(self, version: str) -> str:
        """The claim's path on the API server, in a served version of resource.k8s.io."""
        return f"/apis/resource.k8s.io/{version}/namespaces/{self.namespace}/resourceclaims/{self.name}"

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
