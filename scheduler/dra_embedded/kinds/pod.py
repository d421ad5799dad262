"""Pods (core/v1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_api.validation import FieldError
from dra_embedded.kinds.behaviour import Behaviour, Call, FieldReader, Object, carry, flag_field, text_field
from dra_embedded.kinds.pod_defaults import add_default_tolerations, default_pod, qos_class
from dra_embedded.kinds.pod_updates import validate_pod_update
from dra_embedded.kinds.pod_validation import validate_pod, validate_pod_status
from dra_embedded.status import Subject, forbidden

_TERMINAL = ("Succeeded", "Failed")
_KEPT_BY_STATUS = ("resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses")


class PodBehaviour(Behaviour):
    """Pods: phase, generation, priority admission, grace periods."""

    returns_deleted = True

    def default(self, obj: Object, call: Call) -> None:
        """See pod_defaults."""
        if not call.leaves(obj, "spec"):
            default_pod(obj)

    def admit(self, obj: Object, call: Call) -> None:
        """Resolve the priority class and add the default tolerations. Raises StatusError."""
        _resolve_priority(obj, call)
        add_default_tolerations(obj)

    def prepare_create(self, obj: Object, call: Call) -> None:
        """A new pod is Pending, whatever its creator says; scheduling gates show in its conditions."""
        obj["metadata"]["generation"] = 1
        status: Object = {"phase": "Pending", "qosClass": qos_class(obj)}
        if obj["spec"].get("schedulingGates"):
            condition = {"type": "PodScheduled", "status": "False", "lastProbeTime": None, "lastTransitionTime": None}
            condition["reason"] = "SchedulingGated"
            condition["message"] = "Scheduling is blocked due to non-empty scheduling gates"
            status["conditions"] = [condition]
        obj["status"] = status

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """See pod_validation."""
        return validate_pod(obj)

    def prepare_update(self, new: Object, old: Object, call: Call) -> None:
        """Keep the status, count a changed spec."""
        carry(new, old, "status")
        if not call.leaves(new, "spec") and isinstance(new.get("spec"), dict):
            add_default_tolerations(new)
        if new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """Only images, deadlines, gates and tolerations may change."""
        return validate_pod_update(new, old)

    def prepare_status_update(self, new: Object, old: Object, call: Call) -> None:
        """Keep the spec, the owners and, when absent, what the claim controller wrote."""
        carry(new, old, "spec")
        carry(new["metadata"], old["metadata"], "ownerReferences")
        status, before = new.setdefault("status", {}), old.get("status") or {}
        if not status.get("qosClass") and "qosClass" in before:
            status["qosClass"] = before["qosClass"]
        for field in _KEPT_BY_STATUS:
            if status.get(field) is None and field in before:
                status[field] = before[field]
            elif status.get(field) == []:
                del status[field]  # said on purpose: cleared

    def validate_status_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """See pod_validation."""
        return validate_pod_status(new, old)

    def grace(self, obj: Object, requested: int | None) -> int | None:
        """The kubelet ends a bound pod; one that is not bound or has ended goes at once."""
        spec = obj.get("spec") or {}
        if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in _TERMINAL:
            return 0
        period: Any = spec.get("terminationGracePeriodSeconds", 30) if requested is None else requested
        return 1 if period < 0 else int(period)

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields of pods."""
        return _FIELDS

    def field_aliases(self) -> Mapping[str, str]:
        """The oldest clients say spec.host."""
        return {"spec.host": "spec.nodeName"}


_FIELDS: Mapping[str, FieldReader] = {
    "spec.nodeName": text_field("spec", "nodeName"),
    "spec.restartPolicy": text_field("spec", "restartPolicy"),
    "spec.schedulerName": text_field("spec", "schedulerName"),
    "spec.serviceAccountName": text_field("spec", "serviceAccountName"),
    "spec.hostNetwork": flag_field("spec", "hostNetwork"),
    "status.phase": text_field("status", "phase"),
    "status.podIP": text_field("status", "podIP"),
    "status.podIPs": text_field("status", "podIP"),
    "status.nominatedNodeName": text_field("status", "nominatedNodeName"),
}


def _resolve_priority(pod: Object, call: Call) -> None:
    """Write spec.priority and spec.preemptionPolicy from the class (admission plugin Priority)."""
    spec = pod["spec"]
    subject, metadata = Subject("", "pods"), pod["metadata"]
    name = spec.get("priorityClassName") or ""
    found = call.reads.priority_class(name)
    if found is None and name:
        raise forbidden(subject, metadata.get("name", ""), f"no PriorityClass with name {name} was found")
    value, policy = 0, "PreemptLowerPriority"
    if found is not None:
        value, policy = int(found.get("value", 0)), found.get("preemptionPolicy", policy)
        spec["priorityClassName"] = found["metadata"]["name"]
    given = spec.get("priority")
    if given is not None and given != value:
        why = f"the integer value of priority ({given}) must not be provided in pod spec; "
        raise forbidden(subject, metadata.get("name", ""), why + f"priority admission controller computed {value}")
    spec["priority"] = value
    spec["preemptionPolicy"] = policy
