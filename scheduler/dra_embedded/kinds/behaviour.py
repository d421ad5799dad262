"""The rules of one kind, called by the verbs; this base is what kinds without special rules do.

Objects are dicts of the kind's storage version. The hooks may change the top level, `metadata`, `spec` and `status` of
the *new* object, which the verbs have copied that far; whatever lies deeper may be shared with the stored object and is
replaced, not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dra_api.validation import FieldError

Object = dict[str, Any]
FieldReader = Callable[[Object], str]


class Reads(Protocol):
    """What admission may look up in other kinds."""

    def namespace(self, name: str) -> Object | None:
        """The Namespace of that name."""
        ...

    def priority_class(self, name: str) -> Object | None:
        """The PriorityClass of that name; "" is the one marked globalDefault."""
        ...

    def node(self, name: str) -> Object | None:
        """The Node of that name."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """The circumstances of a write: the API version used, the namespace, the time as written into objects.

    `stored`: the object before it, None on create. Parts that a patch leaves alone are the very ones of `stored`.
    """

    version: str
    namespace: str
    now: str
    reads: Reads
    stored: Object | None = None

    def leaves(self, obj: Object, field: str) -> bool:
        """Whether the write does not touch a top-level field, so that what is in it needs no second look."""
        return self.stored is not None and field in obj and obj[field] is self.stored.get(field)


class Behaviour:
    """The rules of a kind that has none of its own."""

    allow_create_on_update = False
    allow_unconditional_update = True
    collects_garbage = True
    """Whether owner references and propagation policies mean anything (not for events)."""
    returns_deleted = False
    """Whether DELETE answers with the object instead of a Status."""
    status_fields: tuple[str, ...] = ("status",)
    """Top-level fields that belong to the status subresource."""

    def default(self, obj: Object, call: Call) -> None:
        """Fill in defaults, also into what a patch added; idempotent."""

    def admit(self, obj: Object, call: Call) -> None:
        """Mutating and validating admission on create. Raises StatusError."""

    def prepare_create(self, obj: Object, call: Call) -> None:
        """Reset what a creator may not set; by default the status."""
        for field in self.status_fields:
            obj.pop(field, None)

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """What is wrong with a new object."""
        return []

    def prepare_update(self, new: Object, old: Object, call: Call) -> None:
        """Reset what an update of the main resource may not change; by default the status."""
        for field in self.status_fields:
            carry(new, old, field)

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """What is wrong with an update of the main resource."""
        return []

    def prepare_status_update(self, new: Object, old: Object, call: Call) -> None:
        """Reset what an update through /status may not change; by default all but the status and a few of metadata."""
        for field in [*new, *old]:
            if field not in self.status_fields and field not in ("metadata", "apiVersion", "kind"):
                carry(new, old, field)
        reset_metadata_for_status(new, old)

    def validate_status_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """What is wrong with an update through /status."""
        return []

    def finish(self, obj: Object) -> None:
        """Bring a valid object into its canonical form before it is stored."""

    def grace(self, obj: Object, requested: int | None) -> int | None:
        """Seconds until a deleted object goes; None: the kind knows no graceful deletion."""
        return None

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields beside metadata.name and metadata.namespace."""
        return {}

    def field_aliases(self) -> Mapping[str, str]:
        """Other spellings of selectable fields in requests."""
        return {}


class GenerationBehaviour(Behaviour):
    """Kinds whose metadata.generation counts the changes of their spec."""

    def prepare_create(self, obj: Object, call: Call) -> None:
        """Start at generation 1."""
        super().prepare_create(obj, call)
        obj["metadata"]["generation"] = 1

    def prepare_update(self, new: Object, old: Object, call: Call) -> None:
        """Count a changed spec."""
        super().prepare_update(new, old, call)
        if new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def carry(new: Object, old: Object, field: str) -> None:
    """Give `new` the field as `old` has it, or take it away."""
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def reset_metadata_for_status(new: Object, old: Object) -> None:
    """A write through /status changes none of these (meta/v1 ResetObjectMetaForStatus)."""
    metadata, before = new["metadata"], old["metadata"]
    for field in ("deletionTimestamp", "generation", "labels", "annotations", "finalizers", "ownerReferences"):
        carry(metadata, before, field)


def text_field(*path: str) -> FieldReader:
    """A reader of a string at a path; absent reads as the empty string."""

    def read(obj: Object) -> str:
        value: Any = obj
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value if isinstance(value, str) else ""

    return read


def flag_field(*path: str) -> FieldReader:
    """A reader of a boolean at a path as `true` or `false`; absent reads as false."""

    def read(obj: Object) -> str:
        value: Any = obj
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return "true" if value is True else "false"

    return read
