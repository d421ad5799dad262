"""Whole objects: on create, on update, on update of the status."""

from __future__ import annotations

from dra_api.names import qualified_name_problems
from dra_api.references import DRA_RESOURCES
from dra_api.schema import check_types
from dra_api.schemas import SCHEMAS
from dra_api.validation.claim_status import claim_status
from dra_api.validation.claims import MAX_CONFIG, claim_spec
from dra_api.validation.conditions import conditions
from dra_api.validation.configuration import configuration
from dra_api.validation.errors import FieldError, immutable, invalid
from dra_api.validation.formats import device_name, driver_name, pool_name
from dra_api.validation.lists import Errors, Raw, items
from dra_api.validation.metadata import metadata, metadata_update, template_metadata
from dra_api.validation.rules import Rules
from dra_api.validation.selectors import selectors
from dra_api.validation.slices import slice_spec
from dra_api.validation.taints import taint

_NAMESPACED = {resource.kind: resource.namespaced for resource in DRA_RESOURCES}


def validate_object(obj: Raw, rules: Rules | None = None) -> list[FieldError]:
    """Check a new object of resource.k8s.io in the v1 shape, with its defaults: metadata and spec."""
    errors = _wrong_types(obj)
    if errors:
        return errors
    return [*metadata(obj.get("metadata") or {}, namespaced=_NAMESPACED[obj["kind"]]), *validate_spec(obj, None, rules)]


def validate_update(new: Raw, old: Raw, rules: Rules | None = None) -> list[FieldError]:
    """Check a changed object against what it was: metadata and spec."""
    errors = _wrong_types(new)
    if errors:
        return errors
    changed = metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    return [*changed, *validate_spec(new, old, rules)]


def validate_spec(new: Raw, old: Raw | None = None, rules: Rules | None = None) -> list[FieldError]:
    """Check only the spec of a new object, or (`old` given) of a changed one. Types must be right."""
    spec, before = new.get("spec") or {}, None if old is None else old.get("spec") or {}
    rules = rules or Rules()
    kind = new["kind"]
    if kind in ("ResourceClaim", "ResourceClaimTemplate") and before is not None:
        return list(immutable("spec", spec, before))
    if kind == "ResourceClaim":
        return list(claim_spec("spec", spec, rules))
    if kind == "ResourceClaimTemplate":
        return [
            *template_metadata("spec.metadata", spec.get("metadata") or {}),
            *claim_spec("spec.spec", spec.get("spec") or {}, rules),
        ]
    if kind == "ResourceSlice":
        return list(slice_spec(spec, before, rules))
    if kind == "DeviceClass":
        return list(_class_spec(spec, before, rules))
    return list(_rule_spec(spec, before))


def validate_status_update(new: Raw, old: Raw) -> list[FieldError]:
    """Check an object whose status has changed; claims and taint rules have one. Metadata is not checked."""
    errors = _wrong_types(new)
    if errors:
        return errors
    if new["kind"] == "ResourceClaim":
        return list(claim_status(new, old))
    status: Raw = new.get("status") or {}
    return list(conditions("status.conditions", status.get("conditions") or (), 8))


def _wrong_types(obj: Raw) -> list[FieldError]:
    """Wrong types never come this far in a server; here they are errors too, so that the rules can rely on types."""
    found = check_types(obj, SCHEMAS[obj["kind"]], unknown_fields=False)
    return [FieldError("FieldValueTypeInvalid", error.field, None, error.problem) for error in found]


def _class_spec(spec: Raw, old: Raw | None, rules: Rules) -> Errors:
    stored_selectors = old is not None and old.get("selectors") == spec.get("selectors")
    stored_config = old is not None and old.get("config") == spec.get("config")

    def config(path: str, value: Raw) -> Errors:
        return configuration(path, value, stored_config)

    yield from selectors("spec", spec, rules, stored_selectors)
    yield from items("spec.config", spec.get("config") or (), MAX_CONFIG, config)
    name: str | None = spec.get("extendedResourceName")
    if name is not None and not _is_extended_resource(name):
        yield invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


def _is_extended_resource(name: str) -> bool:
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not qualified_name_problems(f"requests.{name}")


def _rule_spec(spec: Raw, old: Raw | None) -> Errors:
    selector: Raw = spec.get("deviceSelector") or {}
    for name, check in (("driver", driver_name), ("pool", pool_name), ("device", device_name)):
        if selector.get(name) is not None:
            yield from check(f"spec.deviceSelector.{name}", selector[name])
    value: Raw = spec.get("taint") or {}
    old_effect = ((old or {}).get("taint") or {}).get("effect")
    for error in taint("spec.taint", value):
        if old_effect is None or error.field != "spec.taint.effect" or old_effect != value.get("effect"):
            yield error
