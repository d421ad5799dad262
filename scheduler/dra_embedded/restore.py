"""Objects as another cluster had them: with their uid, age and status, so that references between them still hold."""

from __future__ import annotations

from typing import Any

import orjson

from dra_api.references import Resource, find_resource
from dra_embedded.context import Context
from dra_embedded.paths import Target
from dra_embedded.registry import Registry, plain
from dra_embedded.seeds import NAMESPACES
from dra_embedded.status import bad_request, invalid
from dra_embedded.store.history import Stored
from dra_embedded.verbs.create import create_object

Object = dict[str, Any]

_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
_DROPPED = ("resourceVersion", "managedFields", "selfLink")


def restore(context: Context, registry: Registry, given: Object) -> None:
    """Store an object that a file describes; it is admitted, defaulted and validated like one that is created.

    What the file says of uid, times and status is kept. A kind that is not known is served from now on. Raises
    StatusError as a POST does, and for a status that the API would refuse.
    """
    obj: Object = orjson.loads(orjson.dumps(given))
    target = _target(registry, obj)
    metadata = obj["metadata"]
    kept = {name: metadata[name] for name in _KEPT if metadata.get(name)}
    for name in _DROPPED:
        metadata.pop(name, None)
    status = obj.get("status")
    stored = _seeded(context, target, obj) or create_object(context, target, obj)
    if not kept and not status:
        return
    new = {**stored.object, "metadata": {**stored.object["metadata"], **kept}}
    if status:
        new["status"] = {**(stored.object.get("status") or {}), **status}
        behaviour, call = target.served.behaviour, context.call(target)
        errors = list(behaviour.validate_status_update(new, stored.object, call))
        if errors:
            raise invalid(target.served.kind_subject, new["metadata"]["name"], errors)
        behaviour.finish(new)
    context.store.write(target.served.bucket, stored.key, new)


def _seeded(context: Context, target: Target, obj: Object) -> Stored | None:
    """Return the namespace that every cluster has from its start, with the labels that the file gives it."""
    if obj["kind"] != "Namespace" or obj["metadata"].get("name") not in NAMESPACES:
        return None
    known = context.store.get(target.served.bucket, obj["metadata"]["name"])
    if known is None:
        return None
    metadata = known.object["metadata"]
    labels = {**(metadata.get("labels") or {}), **(obj["metadata"].get("labels") or {})}
    return context.store.write(
        target.served.bucket, known.key, {**known.object, "metadata": {**metadata, "labels": labels}}
    )


def _target(registry: Registry, obj: Object) -> Target:
    """Where the object belongs. Raises StatusError for one without apiVersion or kind."""
    api_version, kind = obj.get("apiVersion") or "", obj.get("kind") or ""
    namespace = obj["metadata"].get("namespace") or None
    if not api_version or not kind:
        raise bad_request("the object has no apiVersion or no kind")
    version = api_version.rpartition("/")[2]
    resource = find_resource(api_version, kind) or _guessed(api_version, kind, namespaced=namespace is not None)
    served = registry.find(resource.group, version, resource.plural)
    if served is None:
        registry.add(plain(resource, subresources=frozenset({"status"})))
        served = registry.find(resource.group, version, resource.plural)
    if served is None:
        raise bad_request(f"{api_version} {kind} is not served")
    return Target(served, version, (namespace or "default") if served.resource.namespaced else None)


def _guessed(api_version: str, kind: str, *, namespaced: bool) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(kind, f"{kind.lower()}s", group, (version,), namespaced)
