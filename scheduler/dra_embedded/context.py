"""What every verb works with: the store, the registry, the time, the random source."""

from __future__ import annotations

import random
import uuid
from typing import Any

from dra_api.clock import Clock
from dra_embedded.kinds.behaviour import Call
from dra_embedded.paths import Target
from dra_embedded.registry import Registry
from dra_embedded.store.store import Store

Object = dict[str, Any]

_NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED = 5
_MAX_BASE = 63 - _GENERATED


class Context:
    """Shared by the verbs of one server; also the look-ups that admission makes."""

    def __init__(self, store: Store, registry: Registry, clock: Clock, source: random.Random) -> None:
        self.store = store
        self.registry = registry
        self.clock = clock
        self.random = source

    def now(self) -> str:
        """The time of day as written into objects, in whole seconds."""
        return self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_uid(self) -> str:
        """A random UUID (version 4)."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def generate_name(self, base: str) -> str:
        """A name of the base and five random characters; a long base is cut."""
        return base[:_MAX_BASE] + "".join(self.random.choices(_NAME_LETTERS, k=_GENERATED))

    def call(self, target: Target, stored: Object | None = None) -> Call:
        """The circumstances of a write to a target, which is `stored` so far."""
        version = target.served.resource.api_version(target.version)
        return Call(version, target.namespace or "", self.now(), self, stored)

    def namespace(self, name: str) -> Object | None:
        """The Namespace of that name."""
        return self._object("namespaces", name)

    def node(self, name: str) -> Object | None:
        """The Node of that name."""
        return self._object("nodes", name)

    def priority_class(self, name: str) -> Object | None:
        """The PriorityClass of that name; "" is the one marked globalDefault."""
        bucket = "priorityclasses.scheduling.k8s.io"
        if name:
            return self._object(bucket, name)
        defaults = (each.object for each in self.store.bucket(bucket).items(None))
        return next((each for each in defaults if each.get("globalDefault")), None)

    def _object(self, bucket: str, key: str) -> Object | None:
        stored = self.store.get(bucket, key)
        return None if stored is None else stored.object
