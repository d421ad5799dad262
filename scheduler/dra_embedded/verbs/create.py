"""POST of a new object, and the creation that a PUT may stand for."""

from __future__ import annotations

from typing import Any

from dra_api.transport import Request, Response
from dra_embedded.bodies import object_response, read_object
from dra_embedded.context import Context
from dra_embedded.dry_run import is_dry_run
from dra_embedded.field_validation import FieldValidation
from dra_embedded.kinds.metadata import check_metadata
from dra_embedded.paths import Target
from dra_embedded.status import Cause, Subject, already_exists, bad_request, forbidden, internal, invalid, not_found
from dra_embedded.store.history import Stored

Object = dict[str, Any]

_NAME_ATTEMPTS = 8
_WIPED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def create(context: Context, target: Target, request: Request) -> Response:
    """Create the object of the request's body. Raises StatusError."""
    fields = FieldValidation.of(request)
    obj = read_object(request, target, fields)
    stored = create_object(context, target, obj, dry_run=is_dry_run(request))
    return object_response(201, stored, target, fields)


def create_object(context: Context, target: Target, obj: Object, *, dry_run: bool = False) -> Stored:
    """Admit, default, validate and store a new object, which is taken over. Raises StatusError."""
    served, metadata = target.served, obj["metadata"]
    for field in _WIPED:
        metadata.pop(field, None)
    _settle_namespace(target, metadata)
    if metadata.get("resourceVersion"):
        raise internal("resourceVersion should not be set on objects to be created")
    behaviour, call = served.behaviour, context.call(target)
    generated = bool(metadata.get("generateName")) and not metadata.get("name")
    _check_namespace(context, target, metadata)
    behaviour.default(obj, call)
    if isinstance(obj.get("spec", {}), dict):
        behaviour.admit(obj, call)
    _name(context, target, metadata, generated=generated)
    metadata["uid"] = context.new_uid()
    metadata["creationTimestamp"] = call.now
    behaviour.prepare_create(obj, call)
    errors = [*check_metadata(served, metadata), *behaviour.validate_create(obj, call)]
    if errors:
        raise invalid(served.kind_subject, metadata.get("name", ""), errors)
    behaviour.finish(obj)
    key = f"{target.namespace}/{metadata['name']}" if target.namespace is not None else str(metadata["name"])
    present = context.store.get(served.bucket, key)
    if present is not None:
        deleted = "deletionTimestamp" in present.object["metadata"]
        raise already_exists(served.subject, metadata["name"], being_deleted=deleted, generated=generated)
    if dry_run:
        return Stored(key, obj, 0)
    return context.store.write(served.bucket, key, obj)


def _settle_namespace(target: Target, metadata: Object) -> None:
    """The object's namespace is the request's. Raises StatusError (400) when it says another."""
    given = metadata.get("namespace") or ""
    expected = target.namespace or ""
    if given and given != expected:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if expected:
        metadata["namespace"] = expected
    else:
        metadata.pop("namespace", None)


def _check_namespace(context: Context, target: Target, metadata: Object) -> None:
    """Nothing is created in a namespace that does not exist or is on its way out. Raises StatusError."""
    if target.namespace is None:
        return
    namespace = context.namespace(target.namespace)
    if namespace is None:
        raise not_found(Subject("", "namespaces"), target.namespace)
    if (namespace.get("status") or {}).get("phase") == "Terminating":
        why = f"unable to create new content in namespace {target.namespace} because it is being terminated"
        cause = Cause("NamespaceTerminating", "metadata.namespace", f"namespace {target.namespace} is being terminated")
        raise forbidden(target.served.subject, metadata.get("name", ""), why, [cause])


def _name(context: Context, target: Target, metadata: Object, *, generated: bool) -> None:
    """Make up a name from generateName; a taken one is tried again a few times."""
    if not generated:
        return
    bucket = context.store.bucket(target.served.bucket).objects
    prefix = f"{target.namespace}/" if target.namespace is not None else ""
    for _ in range(_NAME_ATTEMPTS):
        metadata["name"] = context.generate_name(metadata["generateName"])
        if prefix + metadata["name"] not in bucket:
            return
