"""Claims that the controller has made and may not have seen yet.

kube-controller-manager remembers them for an hour, or until it finds a newer version in its cache, and believes its
memory even when the claim has been deleted meanwhile: such a claim is not made again in that time. So does this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_embedded.claims.names import CLAIM_NAME_ANNOTATION, owning_group, owning_pod
from dra_embedded.clients.informer import key_of

Object = dict[str, Any]

REMEMBERED = 3600.0
"""Seconds for which a claim is remembered."""


class CreatedClaims:
    """The claims by key; `seen` is the informer's cache, `time` reads the loop's time in seconds."""

    def __init__(self, seen: Mapping[str, Object], time: Callable[[], float]) -> None:
        self._seen = seen
        self._time = time
        self._made: dict[str, tuple[float, Object]] = {}
        self._keys: dict[tuple[str, str], str] = {}  # (uid of the owner, its entry) -> key

    def add(self, claim: Object) -> None:
        """Remember a claim that was just made."""
        self._forget_old()
        self._made[key_of(claim)] = (self._time() + REMEMBERED, claim)
        self._keys[_purpose(claim)] = key_of(claim)

    def get(self, key: str) -> Object | None:
        """The claim as the informer has it, or else as it was made."""
        seen = self._seen.get(key)
        remembered = self._made.get(key)
        if remembered is None:
            return seen
        if seen is not None and _revision(seen) > _revision(remembered[1]):
            self._forget(key)
            return seen
        return remembered[1] if seen is not None or remembered[0] > self._time() else None

    def made_for(self, owner_uid: str, entry: str) -> Object | None:
        """The claim made for an entry of a pod's or PodGroup's spec.resourceClaims, if it is still remembered."""
        key = self._keys.get((owner_uid, entry))
        return None if key is None else self.get(key)

    def _forget_old(self) -> None:
        now = self._time()
        for key, (until, claim) in list(self._made.items()):  # in the order in which they were made
            seen = self._seen.get(key)
            if until > now and (seen is None or _revision(seen) <= _revision(claim)):
                break
            self._forget(key)

    def _forget(self, key: str) -> None:
        _, claim = self._made.pop(key)
        self._keys.pop(_purpose(claim), None)


def _purpose(claim: Object) -> tuple[str, str]:
    owner, annotations = owning_pod(claim) or owning_group(claim), claim["metadata"].get("annotations") or {}
    return (owner[1] if owner else "", annotations.get(CLAIM_NAME_ANNOTATION, ""))


def _revision(claim: Object) -> int:
    return int(claim["metadata"]["resourceVersion"])
