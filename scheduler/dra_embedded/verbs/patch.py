"""PATCH of an object or of its status, in the three formats."""

from __future__ import annotations

from typing import Any

import orjson

from dra_api.transport import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Request, Response
from dra_api.validation.errors import invalid as invalid_value
from dra_embedded.bodies import check_size, from_storage, media_type, object_response, parse, to_storage
from dra_embedded.context import Context
from dra_embedded.dry_run import is_dry_run
from dra_embedded.field_validation import FieldValidation
from dra_embedded.patches.json_patch import MAX_OPERATIONS, JsonPatchError, MalformedPatchError, json_patch
from dra_embedded.patches.merge import merge_patch
from dra_embedded.patches.strategic import StrategicPatchError, strategic_merge_patch
from dra_embedded.paths import Target
from dra_embedded.status import (
    StatusError,
    Subject,
    bad_request,
    invalid,
    not_found,
    unprocessable,
    unsupported_media_type,
)
from dra_embedded.verbs.replace import replace

_FORMATS = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH)


def patch(context: Context, target: Target, request: Request) -> Response:
    """Apply the request's patch. Raises StatusError: 415 for another format (server-side apply is not served)."""
    kind = media_type(request)
    if kind not in _FORMATS:
        raise unsupported_media_type(_FORMATS)
    fields = FieldValidation.of(request)
    change = parse(check_size(request))
    old = context.store.get(target.served.bucket, target.key)
    if old is None:
        raise not_found(target.served.subject, str(target.name))
    patched = _apply(kind, from_storage(old.object, target), change)
    new = _decoded(patched, target, fields, old.object)
    name = new["metadata"].get("name", "")
    if name != target.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
    if new["metadata"].get("namespace", "") != old.object["metadata"].get("namespace", ""):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if isinstance(change, dict) and "resourceVersion" not in (change.get("metadata") or {}):
        new["metadata"]["resourceVersion"] = old.object["metadata"]["resourceVersion"]
    stored = replace(context, target, old, new, dry_run=is_dry_run(request))
    return object_response(200, stored, target, fields)


def _decoded(patched: dict[str, Any], target: Target, fields: FieldValidation, known: dict[str, Any]) -> dict[str, Any]:
    """The patched object in storage form; one that is none is the patch's fault."""
    try:
        return to_storage(patched, target, fields, known)
    except StatusError as error:
        problem = invalid_value("patch", orjson.dumps(patched).decode(), error.message)
        raise invalid(Subject("", ""), "", [problem]) from error


def _apply(kind: str, target: dict[str, Any], change: Any) -> dict[str, Any]:
    try:
        if kind == JSON_PATCH:
            if isinstance(change, list) and len(change) > MAX_OPERATIONS:
                message = f"Request entity too large: a JSON patch has at most {MAX_OPERATIONS} operations"
                raise StatusError(413, "RequestEntityTooLarge", f"{message}, this one has {len(change)}")
            patched = json_patch(target, change)
        elif not isinstance(change, dict):
            raise bad_request("a merge patch must be an object")
        elif kind == MERGE_PATCH:
            patched = merge_patch(target, change)
        else:
            patched = strategic_merge_patch(target, change)
    except (MalformedPatchError, StrategicPatchError) as error:
        raise bad_request(str(error)) from error
    except JsonPatchError as error:
        raise unprocessable(str(error)) from error
    if not isinstance(patched, dict):
        raise bad_request("the patched object is no object any more")
    return patched
