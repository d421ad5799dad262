"""Request bodies in, response bodies out: JSON, sizes, kinds, versions.

The store holds objects in their storage version, without `kind` and `apiVersion`; both are put in front of an object's
cached JSON when it is sent, so that an object is encoded once however often it is read and watched.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from dra_api.errors import ApiError, DecodeError
from dra_api.schema import Fields
from dra_api.transport import JSON, Request, Response
from dra_embedded.field_validation import FieldValidation
from dra_embedded.kinds.shapes import shape_of
from dra_embedded.paths import Target
from dra_embedded.shaping import shape, shape_changed
from dra_embedded.status import StatusError, bad_request, internal, too_large, unsupported_media_type
from dra_embedded.store.history import Stored

MAX_BODY = 3 * 1024 * 1024
"""Bytes of a request's body that the server accepts."""

_ACCEPTED = (JSON,)
_HEADERS = {"content-type": JSON}


def check_size(request: Request) -> bytes:
    """The body, or b"". Raises StatusError (413) when it is too large."""
    body = request.body or b""
    if len(body) > MAX_BODY:
        raise too_large(MAX_BODY)
    return body


def parse(body: bytes) -> Any:
    """The body's JSON value. Raises StatusError (400)."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"the body is not valid JSON: {error}") from error


def media_type(request: Request) -> str:
    """The content type without its parameters."""
    return request.content_type.partition(";")[0].strip().lower()


def read_object(request: Request, target: Target, fields: FieldValidation) -> dict[str, Any]:
    """The object in a request's body, in storage form, its metadata an object of its own.

    Raises StatusError: 415 for another content type than JSON, 413, and 400 for what is no object of this kind.
    """
    if media_type(request) not in _ACCEPTED:
        raise unsupported_media_type(_ACCEPTED)
    return to_storage(parse_object(check_size(request)), target, fields)


def parse_object(body: bytes) -> dict[str, Any]:
    """The body as an object. Raises StatusError (400)."""
    obj = parse(body)
    if not isinstance(obj, dict):
        raise bad_request(f"the body must be an object, not {_json_type(obj)}")
    return obj


def parse_shaped(body: bytes, what: str, schema: Fields) -> dict[str, Any]:
    """The body as an object that is no resource, such as DeleteOptions. Raises StatusError (400)."""
    obj = parse_object(body)
    try:
        shaped: dict[str, Any] = shape(obj, schema, [])
    except DecodeError as error:
        raise bad_request(f"{what}: {error}") from error
    if obj.get("kind", what) != what:
        raise bad_request(f"the body must be {what}, not {obj['kind']}")
    return shaped


def to_storage(
    obj: dict[str, Any], target: Target, fields: FieldValidation, known: dict[str, Any] | None = None
) -> dict[str, Any]:
    """An object in the target's version, in storage form; `fields` learns of those that the kind does not have.

    `known` is the stored object that this one was made from. Raises StatusError (400).
    """
    served = target.served
    expected, kind = served.resource.api_version(target.version), served.resource.kind
    given_kind, given = obj.get("kind") or kind, obj.get("apiVersion") or expected
    if given_kind != kind:
        raise bad_request(f'{given_kind} in version "{given}" cannot be handled as a {kind}')
    if given != expected:
        message = f"the API version in the data ({given}) does not match the expected API version ({expected})"
        raise bad_request(message)
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, dict):
        raise bad_request(f"{kind}: metadata must be an object, not {_json_type(metadata)}")
    if served.to_storage is not None and not served.is_stored_as(target.version):
        obj = _convert_in({**obj, "kind": kind, "apiVersion": expected}, target)
        metadata = obj.get("metadata") or {}
    stored = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    stored["metadata"] = {key: value for key, value in metadata.items() if value is not None}
    stored["metadata"].pop("managedFields", None)
    stored["metadata"].pop("selfLink", None)
    return _shaped(stored, kind, given, fields, known or {})


def from_storage(obj: dict[str, Any], target: Target) -> dict[str, Any]:
    """A stored object in the target's version, with kind and apiVersion; shares its parts with `obj`."""
    served = target.served
    full = {"kind": served.resource.kind, "apiVersion": served.storage, **obj}
    if served.from_storage is None or served.is_stored_as(target.version):
        full["apiVersion"] = served.resource.api_version(target.version)
        return full
    try:
        return served.from_storage(full, target.version)
    except ApiError as error:
        raise internal(f"converting to {target.version}: {error}") from error


def encode(stored: Stored, target: Target) -> bytes:
    """A stored object as JSON in the target's version, with kind and apiVersion."""
    return head(target) + encode_item(stored, target)[1:]


def head(target: Target) -> bytes:
    """The beginning of every object of a kind and version, up to where its own fields begin."""
    resource = target.served.resource
    return f'{{"kind":"{resource.kind}","apiVersion":"{resource.api_version(target.version)}",'.encode()


def encode_item(stored: Stored, target: Target) -> bytes:
    """A stored object as JSON in the target's version, without kind and apiVersion, as lists have it."""
    served = target.served
    if served.from_storage is None or served.is_stored_as(target.version):
        return stored.json()
    converted = from_storage(stored.object, target)
    return orjson.dumps({key: value for key, value in converted.items() if key not in ("kind", "apiVersion")})


def object_response(code: int, stored: Stored, target: Target, fields: FieldValidation | None = None) -> Response:
    """An answer with one object; `fields`: those of the request that may be worth a warning."""
    headers = _HEADERS if fields is None else {**_HEADERS, **fields.headers()}
    return Response(code, encode(stored, target), headers)


def list_response(items: Iterable[Stored], metadata: dict[str, Any], target: Target) -> Response:
    """An answer with a list of objects."""
    resource = target.served.resource
    front = f'{{"kind":"{resource.kind}List","apiVersion":"{resource.api_version(target.version)}","metadata":'.encode()
    body = b",".join([encode_item(each, target) for each in items])
    return Response(200, front + orjson.dumps(metadata) + b',"items":[' + body + b"]}", _HEADERS)


def json_response(code: int, body: dict[str, Any]) -> Response:
    """An answer with any JSON object."""
    return Response(code, orjson.dumps(body), _HEADERS)


def status_response(error: StatusError) -> Response:
    """The answer to a refused request."""
    response = json_response(error.code, error.body())
    retry = (error.details or {}).get("retryAfterSeconds")
    if retry is not None and error.code in (429, 504):
        return Response(response.status, response.body, {**_HEADERS, "retry-after": str(retry)})
    return response


def _shaped(
    obj: dict[str, Any], kind: str, version: str, fields: FieldValidation, known: dict[str, Any]
) -> dict[str, Any]:
    what = f'{kind} in version "{version}" cannot be handled as a {kind}'
    try:
        shaped = shape_changed(obj, shape_of(kind), fields.unknown, known)
    except DecodeError as error:
        raise bad_request(f"{what}: {error}") from error
    if fields.unknown and fields.strict:
        raise bad_request(f"{what}: strict decoding error: {', '.join(fields.problems())}")
    return shaped


def _convert_in(obj: dict[str, Any], target: Target) -> dict[str, Any]:
    convert = target.served.to_storage
    if convert is None:
        return obj
    try:
        return convert(obj)
    except ApiError as error:
        raise bad_request(str(error)) from error


def _json_type(value: object) -> str:
    names: dict[type, str] = {type(None): "null", bool: "a boolean", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
