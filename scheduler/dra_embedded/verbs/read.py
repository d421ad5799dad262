"""GET of an object and of a list: selectors, pages, older resource versions."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import orjson

from dra_api.transport import Request, Response
from dra_api.validation import FieldError
from dra_api.validation.errors import forbidden, not_supported
from dra_embedded.bodies import list_response, object_response
from dra_embedded.context import Context
from dra_embedded.paths import Target
from dra_embedded.status import (
    Subject,
    bad_request,
    expired,
    invalid,
    not_found,
    resource_version_too_large,
)
from dra_embedded.store.history import Stored
from dra_embedded.store.store import Bucket
from dra_embedded.verbs.selection import Selection, parse_selection

_MATCHES = ("Exact", "NotOlderThan")


def get(context: Context, target: Target, request: Request) -> Response:
    """One object. Raises StatusError (404)."""
    version = request.query.get("resourceVersion", "")
    if version:
        _check_reached(context, _number(version))
    stored = context.store.get(target.served.bucket, target.key)
    if stored is None:
        raise not_found(target.served.subject, str(target.name))
    return object_response(200, stored, target)


def list_objects(context: Context, target: Target, request: Request) -> Response:
    """A list, or the page of one that `limit` and `continue` ask for. Raises StatusError."""
    query = request.query
    _check_options(query)
    selection = parse_selection(target, query)
    bucket = context.store.bucket(target.served.bucket)
    limit, token = _integer(query, "limit"), query.get("continue", "")
    _integer(query, "timeoutSeconds")
    if token:
        revision, start = _decode_token(token)
        if revision < 0:
            revision = context.store.revision
        objects = _at(bucket, revision, target, token_start=start)
    else:
        version, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
        asked = _number(version) if version else 0
        _check_reached(context, asked)
        # A page of a list at a version is a page of exactly that version; without a limit any newer one will do.
        exact = match == "Exact" or (asked > 0 and limit > 0 and match != "NotOlderThan")
        revision, start = (asked if exact else context.store.revision), ""
        objects = _at(bucket, revision, target) if exact else list(bucket.items(target.namespace))
        if version == "0":
            limit = 0
    rest = [each for each in objects if each.key > start] if start else objects
    return _page(rest, revision, limit, selection, target)


def _page(rest: list[Stored], revision: int, limit: int, selection: Selection, target: Target) -> Response:
    chosen: list[Stored] = []
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    for index, each in enumerate(rest):
        if limit and len(chosen) == limit:
            metadata["continue"] = _encode_token(revision, chosen[-1].key)
            if selection.everything:
                metadata["remainingItemCount"] = len(rest) - index
            break
        if selection.everything or selection.matches(each.object):
            chosen.append(each)
    return list_response(chosen, metadata, target)


def _at(bucket: Bucket, revision: int, target: Target, *, token_start: str = "") -> list[Stored]:
    objects = bucket.list_at(revision, target.namespace)
    if objects is None:
        if not token_start:
            raise expired(f"The resourceVersion for the provided list is too old: {revision}")
        error = expired(
            "the continue parameter is too old for a consistent list; start again without it, or use the one in this "
            "answer for the rest as it is now"
        )
        error.continue_token = _encode_token(-1, token_start)
        raise error
    return objects


def _check_options(query: Mapping[str, str]) -> None:
    """Parameters of a list that exclude each other. Raises StatusError (422)."""
    errors: list[FieldError] = []
    match, version, token = (query.get(each, "") for each in ("resourceVersionMatch", "resourceVersion", "continue"))
    field = "resourceVersionMatch"
    if match:
        if not version:
            message = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            errors.append(forbidden(field, message))
        if token:
            message = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(forbidden(field, message))
        if match not in _MATCHES:
            errors.append(not_supported(field, match, (*_MATCHES, "")))
        if match == "Exact" and version == "0":
            message = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            errors.append(forbidden(field, message))
    if "sendInitialEvents" in query:
        message = "sendInitialEvents is forbidden for list"
        errors.append(forbidden("sendInitialEvents", message))
    if errors:
        raise invalid(Subject("meta.k8s.io", "ListOptions"), "", errors)
    if token and version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")


def _integer(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "0")
    try:
        return max(0, int(text))
    except ValueError as error:
        raise bad_request(f"{name} must be an integer, not {text!r}") from error


def _number(version: str) -> int:
    """A resource version as a number. Raises StatusError."""
    if version.isascii() and version.isdigit():
        return int(version)
    raise bad_request(f'invalid resource version: resourceVersion: Invalid value: "{version}": not a whole number')


def _check_reached(context: Context, version: int) -> None:
    if version > context.store.revision:
        raise resource_version_too_large(version, context.store.revision)


def _encode_token(revision: int, start: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps({"rv": revision, "start": start})).decode()


def _decode_token(token: str) -> tuple[int, str]:
    """Revision and last key of a continue token; -1 stands for "as it is now". Raises StatusError (400)."""
    try:
        content = orjson.loads(base64.urlsafe_b64decode(token))
        return int(content["rv"]), str(content["start"])
    except (binascii.Error, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise bad_request("continue key is not valid") from error
