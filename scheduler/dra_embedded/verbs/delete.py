"""DELETE of an object or a collection: preconditions, grace periods, finalizers, propagation.

present -- no grace, no finalizers --> gone
   |-- grace period --> deletionTimestamp in the future; a second DELETE with a shorter one shortens it (0: goes)
   `-- finalizers ---> deletionTimestamp; the update that removes the last one removes the object
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dra_api.transport import Request, Response
from dra_api.validation.errors import not_supported
from dra_embedded.bodies import check_size, json_response, list_response, object_response, parse_shaped
from dra_embedded.context import Context
from dra_embedded.dry_run import is_dry_run
from dra_embedded.kinds.shapes import DELETE_OPTIONS
from dra_embedded.paths import Target
from dra_embedded.status import Subject, bad_request, conflict, forbidden, invalid
from dra_embedded.status import not_found as missing
from dra_embedded.store.history import Stored
from dra_embedded.verbs.selection import parse_selection

Object = dict[str, Any]

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_POLICIES = ("Foreground", "Background", "Orphan")
_IMMORTAL = ("default", "kube-system", "kube-public")


def delete(context: Context, target: Target, request: Request) -> Response:
    """Delete one object. Raises StatusError."""
    options = _options(request)
    stored = context.store.get(target.served.bucket, target.key)
    if stored is None:
        raise missing(target.served.subject, str(target.name))
    left, gone = delete_stored(context, target, stored, options, dry_run=is_dry_run(request, options))
    if gone and not target.served.behaviour.returns_deleted:
        return json_response(200, _success(target, left.object["metadata"]))
    return object_response(200, left, target)


def delete_collection(context: Context, target: Target, request: Request) -> Response:
    """Delete what the selectors of the query select. Raises StatusError."""
    options = _options(request)
    selection = parse_selection(target, request.query)
    bucket = context.store.bucket(target.served.bucket)
    chosen = [each for each in bucket.items(target.namespace) if selection.matches(each.object)]
    if not is_dry_run(request, options):
        for each in chosen:
            delete_stored(context, target, each, options)
    return list_response(chosen, {"resourceVersion": str(context.store.revision)}, target)


def delete_stored(
    context: Context, target: Target, stored: Stored, options: Object, *, dry_run: bool = False
) -> tuple[Stored, bool]:
    """Delete or begin to delete; the object as it is then, and whether it is gone. Raises StatusError."""
    served, metadata = target.served, stored.object["metadata"]
    _check_preconditions(target, metadata, options.get("preconditions") or {})
    if served.bucket == "namespaces":
        return _delete_namespace(context, target, stored, dry_run=dry_run)
    changed: Object = dict(metadata)
    graceful, pending = _grace(context, target, stored, changed, options)
    if pending:
        return stored, False
    finalizers = _finalizers(target, metadata, options)
    if finalizers:
        changed["finalizers"] = finalizers
    else:
        changed.pop("finalizers", None)
    if not graceful and finalizers:
        if "deletionTimestamp" not in metadata and metadata.get("generation"):
            changed["generation"] = metadata["generation"] + 1
        changed.setdefault("deletionTimestamp", context.now())
        changed["deletionGracePeriodSeconds"] = 0
    waits = bool(finalizers) or bool(graceful and changed["deletionGracePeriodSeconds"] > 0)
    if dry_run:
        return stored, not waits
    if waits:
        if changed == metadata:
            return stored, False
        return context.store.write(served.bucket, stored.key, {**stored.object, "metadata": changed}), False
    if graceful and changed != metadata:
        # The real server stores the mark before it removes the object: watchers see MODIFIED, then DELETED.
        context.store.write(served.bucket, stored.key, {**stored.object, "metadata": changed})
    return context.store.delete(served.bucket, stored.key), True


def _options(request: Request) -> Object:
    """The DeleteOptions of the body, or else of the query. Raises StatusError."""
    body = check_size(request)
    if body:
        options = parse_shaped(body, "DeleteOptions", DELETE_OPTIONS)
    else:
        options = {key: request.query[key] for key in ("propagationPolicy",) if key in request.query}
        if "gracePeriodSeconds" in request.query:
            try:
                options["gracePeriodSeconds"] = int(request.query["gracePeriodSeconds"])
            except ValueError as error:
                raise bad_request("gracePeriodSeconds must be an integer") from error
    policy = options.get("propagationPolicy")
    if policy is not None and policy not in _POLICIES:
        problem = not_supported("propagationPolicy", policy, (*_POLICIES, "nil"))
        raise invalid(Subject("meta.k8s.io", "DeleteOptions"), "", [problem])
    return options


def _check_preconditions(target: Target, metadata: Object, preconditions: Object) -> None:
    kind, name = Subject(target.served.resource.group, target.served.resource.kind), metadata["name"]
    for field, word in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        wanted = preconditions.get(field)
        if wanted is not None and wanted != metadata[field]:
            why = f"the {word} in the precondition ({wanted}) does not match the {word} in record ({metadata[field]})"
            raise conflict(kind, name, why)


def _grace(context: Context, target: Target, stored: Stored, changed: Object, options: Object) -> tuple[bool, bool]:
    """Mark for graceful deletion; whether it is graceful, and whether an earlier deletion stays as it is."""
    requested = options.get("gracePeriodSeconds")
    if requested is not None and requested < 0:
        requested = 1
    metadata = stored.object["metadata"]
    period = target.served.behaviour.grace(stored.object, requested)
    if period is None:
        return False, False
    if "deletionTimestamp" not in metadata:
        changed["deletionTimestamp"] = _after(context, period)
        changed["deletionGracePeriodSeconds"] = period
        if metadata.get("generation"):
            changed["generation"] = metadata["generation"] + 1
        return True, False
    running = metadata.get("deletionGracePeriodSeconds") or 0
    if not running:
        return False, False
    if requested is None or requested >= running:
        return False, True
    changed["deletionTimestamp"] = _after(context, requested)
    changed["deletionGracePeriodSeconds"] = requested
    return True, False


def _after(context: Context, seconds: int) -> str:
    return (context.clock.now() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _finalizers(target: Target, metadata: Object, options: Object) -> list[str]:
    """The object's finalizers with those of the propagation policy, which the garbage collector takes away."""
    present = metadata.get("finalizers") or []
    if not target.served.behaviour.collects_garbage:
        return list(present)
    policy, orphan = options.get("propagationPolicy"), options.get("orphanDependents")
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    kept = [each for each in present if each not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan" or (policy is None and ORPHAN in present):
        return [*kept, ORPHAN]
    if policy == "Foreground" or (policy is None and FOREGROUND in present):
        return [*kept, FOREGROUND]
    return kept


def _delete_namespace(context: Context, target: Target, stored: Stored, *, dry_run: bool) -> tuple[Stored, bool]:
    """Namespaces terminate: the namespace controller empties them and then takes the finalizer of their spec away."""
    obj, metadata = stored.object, stored.object["metadata"]
    if metadata["name"] in _IMMORTAL:
        raise forbidden(target.served.subject, metadata["name"], "this namespace may not be deleted")
    if (obj.get("spec") or {}).get("finalizers") or metadata.get("finalizers"):
        if "deletionTimestamp" in metadata or dry_run:
            return stored, False
        status = {**(obj.get("status") or {}), "phase": "Terminating"}
        marked = {**obj, "metadata": {**metadata, "deletionTimestamp": context.now()}, "status": status}
        return context.store.write("namespaces", stored.key, marked), False
    return (stored, True) if dry_run else (context.store.delete("namespaces", stored.key), True)


def _success(target: Target, metadata: Object) -> Object:
    details: Object = {"name": metadata["name"], "kind": target.served.resource.plural, "uid": metadata["uid"]}
    if target.served.resource.group:
        details["group"] = target.served.resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
