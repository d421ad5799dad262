"""Strategic merge patch: like merge patch, but lists of known fields merge by a key or as sets.

Which fields merge, and by what, is part of the API (patchStrategy and patchMergeKey of its types); MERGE_KEYS has those
of the kinds that this server models. Lists of other fields are replaced whole.

Directives: `$patch: delete | replace | merge`, `$retainKeys`, `$deleteFromPrimitiveList/FIELD`,
`$setElementOrder/FIELD`.
"""

from __future__ import annotations

from typing import Any

from dra_embedded.errors import EmbeddedError

MERGE_KEYS = {
    "addresses": "type",
    "allocatedResourcesStatus": "name",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "evictionResponders": "name",
    "healthConditions": "status",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "nodeAllocatableResourceClaimStatuses": "resourceClaimName",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_SERVICE_PORTS = "port"
_PRIMITIVE_SETS = frozenset({"finalizers", "podCIDRs"})
_DIRECTIVES = ("$patch", "$retainKeys")


class StrategicPatchError(EmbeddedError):
    """The patch has a directive or a list element that makes no sense (400). Caused by the client."""


def strategic_merge_patch(target: Any, patch: Any) -> Any:
    """The patched object. Neither argument changes; unchanged parts are shared. Raises StrategicPatchError."""
    if not isinstance(patch, dict):
        raise StrategicPatchError("a strategic merge patch is an object")
    return _merge_object(target if isinstance(target, dict) else {}, patch)


def _merge_object(target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise StrategicPatchError(f"$patch must be merge, replace or delete, not {directive!r}")
    merged = dict(target)
    if "$retainKeys" in patch:
        retained = set(patch["$retainKeys"])
        merged = {key: value for key, value in merged.items() if key in retained}
    for key, value in patch.items():
        if key in _DIRECTIVES or key.startswith("$setElementOrder/"):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            if field in merged:
                merged[field] = [each for each in merged[field] if each not in value]
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_value(key, merged.get(key), value)
    for key, order in patch.items():
        field = key.partition("/")[2]
        if key.startswith("$setElementOrder/") and isinstance(merged.get(field), list):
            merged[field] = _arranged(field, merged[field], order, target.get(field) or [])
    return merged


def _merge_value(field: str, present: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return _merge_object(present if isinstance(present, dict) else {}, value)
    if isinstance(value, list) and isinstance(present, list):
        if field in _PRIMITIVE_SETS:
            union = [*present, *(each for each in value if each not in present)]
            return _arranged(field, union, value, present)
        if field in MERGE_KEYS and all(isinstance(each, dict) for each in [*present, *value]):
            return _merge_list(field, present, value)
    if isinstance(value, list) and field in MERGE_KEYS:
        return _merge_list(field, [], value) if all(isinstance(each, dict) for each in value) else value
    return value


def _merge_list(field: str, present: list[dict[str, Any]], patch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    key = _merge_key(field, patch)
    if any(each.get("$patch") == "replace" for each in patch):
        return [each for each in patch if each.get("$patch") != "replace"]
    merged = list(present)
    for each in patch:
        if key not in each:
            raise StrategicPatchError(f"an element of {field} in the patch lacks its merge key {key}")
        index = next((at for at, old in enumerate(merged) if old.get(key) == each[key]), None)
        if each.get("$patch") == "delete":
            merged = [old for old in merged if old.get(key) != each[key]]
        elif index is None:
            merged.append(_merge_object({}, each))
        else:
            merged[index] = _merge_object(merged[index], each)
    given = [each for each in patch if each.get("$patch") != "delete"]
    return _arranged(field, merged, given, present)


def _merge_key(field: str, patch: list[dict[str, Any]]) -> str:
    key = MERGE_KEYS[field]
    if field == "ports" and patch and all(key not in each for each in patch):
        return _SERVICE_PORTS
    return key


def _arranged(field: str, values: list[Any], given: list[Any], present: list[Any]) -> list[Any]:
    """The order of a merged list, as the API server makes it.

    What the patch names comes in the patch's order; the rest keeps its own order and stands before a named element only
    if it stood there already.
    """
    key = MERGE_KEYS.get(field)
    if field == "ports":
        key = _merge_key(field, given)

    def identity(each: Any) -> Any:
        found = each.get(key) if key is not None and isinstance(each, dict) else each
        if isinstance(found, (dict, list)):
            raise StrategicPatchError(f"elements of {field} are told apart by strings or numbers, not by {found!r}")
        return found

    wanted = {identity(each): place for place, each in enumerate(given)}
    before = {identity(each): place for place, each in enumerate(present)}
    named = sorted((each for each in values if identity(each) in wanted), key=lambda each: wanted[identity(each)])
    arranged: list[Any] = []
    for each in (each for each in values if identity(each) not in wanted):
        place = before.get(identity(each))
        while named and not _precedes(place, before.get(identity(named[0]))):
            arranged.append(named.pop(0))
        arranged.append(each)
    return arranged + named


def _precedes(place: int | None, other: int | None) -> bool:
    return place is not None and other is not None and place < other
