"""The kinds of resource.k8s.io: claims, templates, classes, slices, taint rules. Stored as v1.

Defaults and validation are `dra_api.validation`'s; here is what needs the server: admission, generation, other objects.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_api.validation import FieldError, Rules, validate_spec, validate_status_update, with_defaults
from dra_api.validation.errors import forbidden
from dra_embedded.kinds.behaviour import Behaviour, Call, FieldReader, Object, text_field

ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"


class DraBehaviour(Behaviour):
    """What the kinds have in common; `counts` tells whether metadata.generation counts changes of the spec."""

    returns_deleted = True
    status_fields: tuple[str, ...] = ()

    def __init__(self, kind: str, rules: Rules, *, counts: bool = False) -> None:
        self._kind = kind
        self._rules = rules
        self._counts = counts

    def default(self, obj: Object, call: Call) -> None:
        """The server's defaults."""
        if call.leaves(obj, "spec") and (call.leaves(obj, "status") or "status" not in obj):
            return
        filled = with_defaults({"kind": self._kind, **obj}, call.now)
        obj.update((field, value) for field, value in filled.items() if field != "kind")

    def prepare_create(self, obj: Object, call: Call) -> None:
        """Start at generation 1, if the kind counts."""
        super().prepare_create(obj, call)
        if self._counts:
            obj["metadata"]["generation"] = 1

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """The rules for new objects."""
        return validate_spec({"kind": self._kind, **obj}, None, self._rules)

    def prepare_update(self, new: Object, old: Object, call: Call) -> None:
        """Count a changed spec."""
        super().prepare_update(new, old, call)
        if self._counts and new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """The rules for changed objects; an unchanged spec needs no second look."""
        if new.get("spec") == old.get("spec"):
            return []
        return validate_spec({"kind": self._kind, **new}, {"kind": self._kind, **old}, self._rules)

    def validate_status_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """The rules for changed statuses."""
        return validate_status_update({"kind": self._kind, **new}, {"kind": self._kind, **old})


class ClaimBehaviour(DraBehaviour):
    """ResourceClaims: no status on create, admin access only in namespaces labelled for it (KEP-5018)."""

    status_fields = ("status",)

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """Admin access needs the namespace's label."""
        return [*admin_access_errors(obj.get("spec") or {}, "spec", call), *super().validate_create(obj, call)]

    def prepare_create(self, obj: Object, call: Call) -> None:
        """A claim shows an empty status from the start."""
        super().prepare_create(obj, call)
        obj["status"] = {}

    def prepare_status_update(self, new: Object, old: Object, call: Call) -> None:
        """Device statuses of devices that are no longer allocated go with them (KEP-4817)."""
        super().prepare_status_update(new, old, call)
        status = new.setdefault("status", {})
        if status.get("devices"):
            gone = _allocated(old) - _allocated(new)
            devices = [{"conditions": None, **each} for each in status["devices"] if _device(each) not in gone]
            new["status"] = {**status, "devices": devices}
            if not devices:
                del new["status"]["devices"]

    def validate_status_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """Results with admin access need the namespace's label, too."""
        errors = super().validate_status_update(new, old, call)
        results = _results(new)
        if results != _results(old) and not _is_admin_namespace(call):
            path = "status.allocation.devices.results"
            admin = (index for index, each in enumerate(results) if each.get("adminAccess"))
            errors = [*(_no_admin(f"{path}[{index}].adminAccess") for index in admin), *errors]
        return errors


class TemplateBehaviour(DraBehaviour):
    """ResourceClaimTemplates."""

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """Admin access needs the namespace's label (KEP-5018)."""
        spec = (obj.get("spec") or {}).get("spec") or {}
        return [*admin_access_errors(spec, "spec.spec", call), *super().validate_create(obj, call)]


class SliceBehaviour(DraBehaviour):
    """ResourceSlices, selectable by node, driver and pool."""

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields of slices."""
        return {
            "spec.nodeName": text_field("spec", "nodeName"),
            "spec.driver": text_field("spec", "driver"),
            "spec.pool.name": text_field("spec", "pool", "name"),
        }


class TaintRuleBehaviour(DraBehaviour):
    """DeviceTaintRules (KEP-5055); in v1 an update needs a resourceVersion."""

    allow_unconditional_update = False
    status_fields = ("status",)


def admin_access_errors(spec: Object, path: str, call: Call) -> list[FieldError]:
    """Requests with adminAccess outside a namespace labelled for it, each a Forbidden."""
    requests = (spec.get("devices") or {}).get("requests") or ()
    admin = [index for index, request in enumerate(requests) if (request.get("exactly") or {}).get("adminAccess")]
    if not admin or _is_admin_namespace(call):
        return []
    return [_no_admin(f"{path}.devices.requests[{index}].adminAccess") for index in admin]


def _no_admin(field: str) -> FieldError:
    text = f"admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label on the containing namespace"
    return forbidden(field, text)


def _is_admin_namespace(call: Call) -> bool:
    namespace = call.reads.namespace(call.namespace) or {}
    return bool((namespace.get("metadata", {}).get("labels") or {}).get(ADMIN_ACCESS_LABEL) == "true")


def _results(claim: Object) -> list[Object]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or []


def _device(each: Object) -> tuple[object, ...]:
    return each.get("driver"), each.get("pool"), each.get("device"), each.get("shareID") or None


def _allocated(claim: Object) -> set[tuple[object, ...]]:
    return {_device(each) for each in _results(claim)}
