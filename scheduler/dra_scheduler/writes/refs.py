"""Names of what is written to: enough to address an object and to make sure that it is still the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra_api.references import POD_GROUP


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
class GroupRef:
    """A PodGroup."""

    namespace: str
    name: str
    uid: str

    def path(self, version: str) -> str:
        """The group's path on the API server, in a served version of scheduling.k8s.io."""
        return POD_GROUP.path(namespace=self.namespace, name=self.name, version=version)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who has a claim reserved: an entry of its `status.reservedFor`. A pod, or a PodGroup for all of its pods."""

    resource: str
    name: str
    uid: str
    api_group: str = ""

    @classmethod
    def of(cls, who: PodRef | GroupRef | Consumer) -> Consumer:
        """The entry for a pod or a group."""
        if isinstance(who, Consumer):
            return who
        if isinstance(who, GroupRef):
            return cls(POD_GROUP.plural, who.name, who.uid, POD_GROUP.group)
        return cls("pods", who.name, who.uid)

    def entry(self) -> dict[str, Any]:
        """The entry as it is written."""
        group = {"apiGroup": self.api_group} if self.api_group else {}
        return {**group, "resource": self.resource, "name": self.name, "uid": self.uid}

    def has(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry is this one. One of a PodGroup is known by its name: kubelets do not know its uid."""
        if entry.get("uid") == self.uid:
            return True
        same = entry.get("resource"), entry.get("name"), entry.get("apiGroup")
        return bool(self.api_group) and same == (self.resource, self.name, self.api_group)


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
