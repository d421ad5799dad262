"""The kinds of resource.k8s.io: claims, templates, classes, slices, taint rules. Stored as v1."""

from __future__ import annotations

from collections.abc import Mapping

from dra_embedded.kinds.behaviour import Behaviour, Call, FieldReader, GenerationBehaviour, Object, text_field
from dra_embedded.status import FORBIDDEN, Cause

ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"


class ClaimBehaviour(Behaviour):
    """ResourceClaims: no status on create, admin access only in namespaces labelled for it."""

    returns_deleted = True

    def validate_create(self, obj: Object, call: Call) -> list[Cause]:
        """Admin access needs the namespace's label (KEP-5018)."""
        return admin_access_problems(obj.get("spec") or {}, "spec", call)

    def prepare_status_update(self, new: Object, old: Object, call: Call) -> None:
        """Device statuses of devices that are no longer allocated go with them (KEP-4817)."""
        super().prepare_status_update(new, old, call)
        status = new.get("status")
        if status and status.get("devices"):
            gone = _allocated(old) - _allocated(new)
            devices = [each for each in status["devices"] if _device(each) not in gone]
            new["status"] = {**status, "devices": devices}
            if not devices:
                del new["status"]["devices"]

    def validate_status_update(self, new: Object, old: Object, call: Call) -> list[Cause]:
        """Results with admin access need the namespace's label, too."""
        results = _results(new)
        if results == _results(old) or not any(each.get("adminAccess") for each in results):
            return []
        return [] if _admin_namespace(call) else [_no_admin("status.allocation.devices.results[0].adminAccess")]


class TemplateBehaviour(Behaviour):
    """ResourceClaimTemplates: the spec is immutable."""

    returns_deleted = True
    status_fields = ()

    def validate_create(self, obj: Object, call: Call) -> list[Cause]:
        """Admin access needs the namespace's label (KEP-5018)."""
        return admin_access_problems((obj.get("spec") or {}).get("spec") or {}, "spec.spec", call)


class ClassBehaviour(GenerationBehaviour):
    """DeviceClasses."""

    returns_deleted = True
    status_fields = ()


class SliceBehaviour(GenerationBehaviour):
    """ResourceSlices; node name and driver are immutable, and selectable like the pool's name."""

    returns_deleted = True
    status_fields = ()

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields of slices."""
        return {
            "spec.nodeName": text_field("spec", "nodeName"),
            "spec.driver": text_field("spec", "driver"),
            "spec.pool.name": text_field("spec", "pool", "name"),
        }


class TaintRuleBehaviour(GenerationBehaviour):
    """DeviceTaintRules (KEP-5055); in v1 an update needs a resourceVersion."""

    allow_unconditional_update = False
    returns_deleted = True


def admin_access_problems(spec: Object, path: str, call: Call) -> list[Cause]:
    """Requests with adminAccess outside a namespace labelled for it, each a Forbidden."""
    if _admin_namespace(call):
        return []
    requests = (spec.get("devices") or {}).get("requests") or ()
    return [
        _no_admin(f"{path}.devices.requests[{index}].exactly.adminAccess")
        for index, request in enumerate(requests)
        if (request.get("exactly") or {}).get("adminAccess")
    ]


def _no_admin(field: str) -> Cause:
    message = f"Forbidden: admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label on the namespace"
    return Cause(FORBIDDEN, field, message)


def _admin_namespace(call: Call) -> bool:
    namespace = call.reads.namespace(call.namespace) or {}
    return bool((namespace.get("metadata", {}).get("labels") or {}).get(ADMIN_ACCESS_LABEL) == "true")


def _results(claim: Object) -> list[Object]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or []


def _device(each: Object) -> tuple[object, ...]:
    return each.get("driver"), each.get("pool"), each.get("device"), each.get("shareID") or None


def _allocated(claim: Object) -> set[tuple[object, ...]]:
    return {_device(each) for each in _results(claim)}
