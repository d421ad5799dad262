"""The commit of a changed object, shared by PUT, PATCH and their subresources."""

from __future__ import annotations

from typing import Any

from dra_api.validation import FieldError, metadata_update
from dra_api.validation.errors import invalid as invalid_value
from dra_embedded.context import Context
from dra_embedded.kinds.metadata import check_metadata
from dra_embedded.paths import Target
from dra_embedded.registry import Served
from dra_embedded.status import STALE_VERSION, Subject, conflict, invalid
from dra_embedded.store.history import Stored

Object = dict[str, Any]


def replace(context: Context, target: Target, old: Stored, new: Object, *, dry_run: bool = False) -> Stored:
    """Store `new`, which is taken over, in the place of `old`; what may not change is reset or refused.

    Nothing is written if nothing changes. An object that is being deleted and has lost its last finalizer goes.
    Raises StatusError: 409 for another resourceVersion or uid, 422 for what validation refuses.
    """
    served, metadata, before = target.served, new["metadata"], old.object["metadata"]
    _check_versions(target, metadata, before)
    behaviour, call = served.behaviour, context.call(target, old.object)
    _carry_system_fields(metadata, before)
    behaviour.default(new, call)
    if target.subresource == "status":
        behaviour.prepare_status_update(new, old.object, call)
    elif target.subresource == "finalize":
        new["status"] = old.object.get("status", {})
    else:
        behaviour.prepare_update(new, old.object, call)
    metadata.setdefault("uid", before["uid"])
    errors = _metadata_errors(served, metadata, before)
    if target.subresource == "status":
        errors += behaviour.validate_status_update(new, old.object, call)
    elif not target.subresource:
        errors += behaviour.validate_update(new, old.object, call)
    if errors:
        raise invalid(served.kind_subject, metadata.get("name", ""), errors)
    behaviour.finish(new)
    metadata["resourceVersion"] = before["resourceVersion"]
    _prune(metadata)
    if new == old.object:
        return old
    if dry_run:
        return Stored(old.key, new, old.revision)
    if _goes(new, before):
        deleted = context.store.delete(served.bucket, old.key)
        return Stored(old.key, {**new, "metadata": {**metadata, "resourceVersion": str(deleted.revision)}}, 0)
    return context.store.write(served.bucket, old.key, new)


def _metadata_errors(served: Served, metadata: Object, before: Object) -> list[FieldError]:
    """What is wrong with changed metadata; most writes leave it as it was."""
    same_version = {**metadata, "resourceVersion": before["resourceVersion"]}
    if same_version == before:
        return []
    return [*check_metadata(served, metadata), *metadata_update(same_version, before)]


def _check_versions(target: Target, metadata: Object, before: Object) -> None:
    served, name = target.served, before["name"]
    uid, version = metadata.get("uid") or "", metadata.get("resourceVersion") or ""
    if uid and uid != before["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {before['uid']}"
        raise conflict(served.subject, name, why)
    if not version or version == "0":
        if not served.behaviour.allow_unconditional_update:
            error = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid(Subject(served.resource.group, served.resource.plural), name, [error])
    elif version != before["resourceVersion"]:
        raise conflict(served.subject, name, STALE_VERSION)


def _carry_system_fields(metadata: Object, before: Object) -> None:
    """The server's own fields of metadata are not the client's to change."""
    for field in ("generation", "creationTimestamp", "deletionTimestamp"):
        if field in before:
            metadata[field] = before[field]
        else:
            metadata.pop(field, None)
    if "deletionGracePeriodSeconds" in before:
        metadata.setdefault("deletionGracePeriodSeconds", before["deletionGracePeriodSeconds"])


def _prune(metadata: Object) -> None:
    """Empty lists and maps of metadata are the same as none."""
    for field in ("labels", "annotations", "finalizers", "ownerReferences"):
        if field in metadata and not metadata[field]:
            del metadata[field]


def _goes(new: Object, before: Object) -> bool:
    """Whether the update has taken away what kept a deleted object."""
    if not before.get("deletionTimestamp") or new["metadata"].get("finalizers"):
        return False
    if (new.get("spec") or {}).get("finalizers"):
        return False
    return not before.get("deletionGracePeriodSeconds")
