"""Request paths of the API: which resource, namespace, object and subresource one means."""

from __future__ import annotations

from dataclasses import dataclass

from dra_embedded.registry import Registry, Served
from dra_embedded.status import no_such_resource


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names; `namespace` None is all namespaces (or a kind outside them), `name` None the collection."""

    served: Served
    version: str
    namespace: str | None
    name: str | None = None
    subresource: str = ""

    @property
    def key(self) -> str:
        """The key of the object in the store; only with a name."""
        return f"{self.namespace}/{self.name}" if self.namespace is not None else str(self.name)


def parse_path(path: str, registry: Registry) -> Target | None:
    """What an API path means; None: it is not under a group and version that is served.

    Raises StatusError (404) for a path under a served group that no resource has.
    """
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    if not registry.has_version(group, version):
        if registry.has_group(group):
            raise no_such_resource()
        return None
    namespace = None
    if rest[0] == "namespaces" and len(rest) >= 3 and not (group == "" and len(rest) == 3 and _of_namespace(rest[2])):
        namespace, rest = rest[1], rest[2:]
    served = registry.find(group, version, rest[0])
    if served is None or len(rest) > 3 or "" in rest:
        raise no_such_resource()
    name = rest[1] if len(rest) > 1 else None
    subresource = rest[2] if len(rest) > 2 else ""
    if subresource and subresource not in served.subresources:
        raise no_such_resource()
    if served.resource.namespaced != (namespace is not None) and not (namespace is None and name is None):
        raise no_such_resource()
    return Target(served, version, namespace, name, subresource)


def _of_namespace(word: str) -> bool:
    """`/api/v1/namespaces/a/status` is the namespace's subresource, not a resource in it."""
    return word in ("status", "finalize")
