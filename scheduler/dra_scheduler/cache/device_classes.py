"""DeviceClasses by name, and by the extended resource that each stands for (KEP-5004).

Every class has an implicit extended resource, `deviceclass.resource.kubernetes.io/NAME`; `spec.extendedResourceName`
gives it a second one. When two classes name the same, the newer one has it, of equally old ones the lower name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before the name of a DeviceClass: the extended resource that every class has."""


class DeviceClasses:
    """The names of all DeviceClasses; what they select is in the allocator's table. `version` changes with them."""

    def __init__(self) -> None:
        self.version = 0
        self._known: dict[str, tuple[str, str]] = {}
        """By name: creation time (RFC 3339 in UTC sorts as text) and extended resource ("": none)."""
        self._of_resource: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def apply(self, name: str, raw: Mapping[str, Any] | None) -> None:
        """A class was added or changed; None: it is gone."""
        before = self._known.pop(name, None)
        if raw is not None:
            created = raw["metadata"].get("creationTimestamp") or ""
            self._known[name] = created, (raw.get("spec") or {}).get("extendedResourceName") or ""
        now = self._known.get(name)
        if before == now:
            return
        self.version += 1
        for resource in {entry[1] for entry in (before, now) if entry is not None}:
            self._choose(resource)

    def of_resource(self, resource: str) -> str | None:
        """Return the class behind an extended resource, None if there is none."""
        if resource.startswith(IMPLICIT_PREFIX):
            name = resource.removeprefix(IMPLICIT_PREFIX)
            return name if name in self._known else None
        return self._of_resource.get(resource)

    def _choose(self, resource: str) -> None:
        named = [(created, name) for name, (created, stands_for) in self._known.items() if stands_for == resource]
        if not resource or not named:
            self._of_resource.pop(resource, None)
            return
        newest = max(created for created, _ in named)
        self._of_resource[resource] = min(name for created, name in named if created == newest)
