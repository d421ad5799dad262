"""Metadata of every object (meta/v1 ObjectMeta)."""

from __future__ import annotations

from collections.abc import Callable

from dra_api.names import byte_length, label_problems, qualified_name_problems, subdomain_problems
from dra_api.validation.errors import forbidden, immutable, invalid, required, too_long
from dra_api.validation.formats import label_key, label_value, names
from dra_api.validation.lists import Errors, Raw

MAX_ANNOTATIONS = 256 * 1024
"""Bytes of all keys and values of the annotations."""

NameCheck = Callable[[str], list[str]]

_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_TEMPLATE_FIELDS = ("labels", "annotations", "creationTimestamp")
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_EXCLUSIVE = {"orphan", "foregroundDeletion"}


def metadata(value: Raw, *, namespaced: bool, check_name: NameCheck = subdomain_problems) -> Errors:
    """Check the metadata of a new object, after its name has been generated."""
    prefix = value.get("generateName") or ""
    if prefix:  # a trailing hyphen is fine, as something follows it
        checked = prefix[:-1] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        for problem in check_name(checked):
            yield invalid("metadata.generateName", prefix, problem)
    if not value.get("name"):
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from names("metadata.name", value["name"], check_name)
    if not namespaced:
        if value.get("namespace"):
            yield forbidden("metadata.namespace", "not allowed on this type")
    elif not value.get("namespace"):
        yield required("metadata.namespace")
    else:
        yield from names("metadata.namespace", value["namespace"], label_problems)
    yield from _common(value)
    finalizers: list[str] = value.get("finalizers") or []
    for finalizer in finalizers:
        yield from names("metadata.finalizers", finalizer, qualified_name_problems)
    if set(finalizers) >= _EXCLUSIVE:
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        yield invalid("metadata.finalizers", finalizers, text)


def metadata_update(new: Raw, old: Raw) -> Errors:
    """Check the metadata of a changed object against what it was."""
    if old.get("deletionTimestamp") is not None:
        extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if extra:
            text = "no new finalizers can be added if the object is being deleted, found new finalizers"
            yield forbidden("metadata.finalizers", f"{text} {extra}")
    if not new.get("resourceVersion"):
        yield invalid("metadata.resourceVersion", "", "must be specified for an update")
    if (new.get("generation") or 0) < (old.get("generation") or 0):
        yield invalid("metadata.generation", new.get("generation") or 0, "must not be decremented")
    for name in _IMMUTABLE:
        yield from immutable(f"metadata.{name}", new.get(name), old.get(name))
    yield from _common(new)


def template_metadata(path: str, value: Raw) -> Errors:
    """Check the metadata in a template: only labels and annotations."""
    yield from _annotations(f"{path}.annotations", value.get("annotations") or {})
    yield from _labels(f"{path}.labels", value.get("labels") or {})
    for name, content in value.items():
        if name not in _TEMPLATE_FIELDS and content not in (None, "", 0, [], {}):
            yield forbidden(f"{path}.{name}", "cannot be set")


def _common(value: Raw) -> Errors:
    if (value.get("generation") or 0) < 0:
        yield invalid("metadata.generation", value["generation"], "must be greater than or equal to 0")
    yield from _labels("metadata.labels", value.get("labels") or {})
    yield from _annotations("metadata.annotations", value.get("annotations") or {})
    yield from _owners("metadata.ownerReferences", value.get("ownerReferences") or [])
    for i, finalizer in enumerate(value.get("finalizers") or ()):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{i}]", finalizer, text)


def _labels(path: str, labels: dict[str, str]) -> Errors:
    for key, value in labels.items():
        yield from label_key(path, key)
        yield from label_value(path, value)


def _annotations(path: str, annotations: dict[str, str]) -> Errors:
    for key in annotations:
        for problem in qualified_name_problems(key.lower()):
            yield invalid(path, key, problem)
    if sum(byte_length(key) + byte_length(value) for key, value in annotations.items()) > MAX_ANNOTATIONS:
        yield too_long(path, MAX_ANNOTATIONS)


def _owners(path: str, references: list[Raw]) -> Errors:
    owners = [owner for i, owner in enumerate(references) if owner not in references[:i]]  # servers drop equal ones
    controller = ""
    for i, owner in enumerate(owners):
        where = f"{path}[{i}]"
        version = owner.get("apiVersion") or ""
        if not version:
            yield required(f"{where}.apiVersion", "must not be empty")
        elif version.count("/") > 1 or version.endswith("/"):
            yield invalid(f"{where}.apiVersion", version, "must be <group>/<version> or <version>")
        for name in ("kind", "name", "uid"):
            if not owner.get(name):
                yield required(f"{where}.{name}", "must not be empty")
        if (version, owner.get("kind")) == ("v1", "Event"):
            yield invalid(where, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            title = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                text = 'Only one reference can have Controller set to true. Found "true" in references for'
                yield invalid(path, owners, f"{text} {controller} and {title}")
            controller = controller or title
