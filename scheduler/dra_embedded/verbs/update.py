"""PUT of an object or of its status."""

from __future__ import annotations

from dra_api.transport import Request, Response
from dra_embedded.bodies import object_response, read_object
from dra_embedded.context import Context
from dra_embedded.dry_run import is_dry_run
from dra_embedded.field_validation import FieldValidation
from dra_embedded.paths import Target
from dra_embedded.status import bad_request, not_found
from dra_embedded.verbs.create import create_object
from dra_embedded.verbs.replace import replace


def update(context: Context, target: Target, request: Request) -> Response:
    """Replace the object by the request's body. Raises StatusError."""
    fields = FieldValidation.of(request)
    obj = read_object(request, target, fields)
    metadata = obj["metadata"]
    dry_run = is_dry_run(request)
    if (metadata.get("namespace") or target.namespace or "") != (target.namespace or ""):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    name = metadata.get("name") or ""
    if not name:
        raise bad_request("name must be provided")
    if name != target.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
    if target.namespace is not None:
        metadata["namespace"] = target.namespace
    old = context.store.get(target.served.bucket, target.key)
    if old is None:
        if target.served.behaviour.allow_create_on_update and not target.subresource:
            metadata.pop("resourceVersion", None)
            return object_response(201, create_object(context, target, obj, dry_run=dry_run), target, fields)
        raise not_found(target.served.subject, str(target.name))
    return object_response(200, replace(context, target, old, obj, dry_run=dry_run), target, fields)
