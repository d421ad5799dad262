"""Namespaces, nodes, leases and secrets."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from dra_api.validation import FieldError
from dra_api.validation.errors import invalid
from dra_embedded.kinds.behaviour import Behaviour, Call, FieldReader, Object, carry, flag_field, text_field
from dra_embedded.kinds.placement_validation import taint_errors


class NamespaceBehaviour(Behaviour):
    """Namespaces stay, terminating, until the namespace controller has taken its finalizer from the spec."""

    def prepare_create(self, obj: Object, call: Call) -> None:
        """Active, with the finalizer of the namespace controller."""
        spec = dict(obj.get("spec") or {})
        finalizers = list(spec.get("finalizers") or ())
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        obj["spec"] = {**spec, "finalizers": finalizers}
        obj["status"] = {"phase": "Active"}

    def prepare_update(self, new: Object, old: Object, call: Call) -> None:
        """Finalizers change through /finalize, the status through /status."""
        carry(new, old, "spec")
        carry(new, old, "status")

    def prepare_status_update(self, new: Object, old: Object, call: Call) -> None:
        """Only the status changes."""
        carry(new, old, "spec")

    def finish(self, obj: Object) -> None:
        """Label the namespace with its name, so that selectors can name it."""
        metadata = obj["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields of namespaces."""
        return {"status.phase": text_field("status", "phase")}


class NodeBehaviour(Behaviour):
    """Nodes: a status given on create is kept; the provider ID and the pod CIDR do not change once set."""

    def prepare_create(self, obj: Object, call: Call) -> None:
        """Keep the status: whoever registers a node reports it along."""

    def default(self, obj: Object, call: Call) -> None:
        """Allocatable is the capacity unless the node says otherwise."""
        status = obj.get("status")
        if isinstance(status, dict) and status.get("capacity") and not status.get("allocatable"):
            obj["status"] = {**status, "allocatable": status["capacity"]}
        obj.setdefault("spec", {})

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """The taints are sound."""
        return taint_errors((obj.get("spec") or {}).get("taints") or [], "metadata.taints")

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """As on create, and the provider ID does not change once set."""
        errors = self.validate_create(new, call)
        before, after = (each.get("spec") or {} for each in (old, new))
        if before.get("providerID") and before.get("providerID") != after.get("providerID"):
            errors.append(invalid("spec.providerID", after.get("providerID"), "field cannot be modified once set"))
        return errors

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields of nodes."""
        return {"spec.unschedulable": flag_field("spec", "unschedulable")}


class LeaseBehaviour(Behaviour):
    """Leases: a PUT may create one, and none is updated without a resourceVersion."""

    allow_create_on_update = True
    allow_unconditional_update = False
    status_fields = ()

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """Durations are positive, transitions not negative."""
        return self._validate(obj)

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """As on create."""
        return self._validate(new)

    def _validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = []
        duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
        if duration is not None and duration <= 0:
            errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
        if transitions is not None and transitions < 0:
            errors.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
        return errors


class SecretBehaviour(Behaviour):
    """Secrets: text that is given plainly becomes data, and only the data is kept."""

    def default(self, obj: Object, call: Call) -> None:
        """Opaque unless a type is given; `stringData` goes into `data`."""
        obj.setdefault("type", "Opaque")
        plain = obj.pop("stringData", None)
        if plain:
            encoded = {key: base64.b64encode(text.encode()).decode() for key, text in plain.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}
