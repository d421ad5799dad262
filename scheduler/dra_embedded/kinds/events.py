"""Events: one store for core/v1 and events.k8s.io/v1, in core/v1's form; and the renaming between the two."""

from __future__ import annotations

from collections.abc import Mapping

from dra_api.names import qualified_name_problems
from dra_api.validation import FieldError
from dra_api.validation.errors import immutable, invalid, required
from dra_embedded.kinds.behaviour import Behaviour, Call, FieldReader, Object, text_field

_RENAMED = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_RENAMED_BACK = {core: new for new, core in _RENAMED.items()}

STRICT = "events.k8s.io/v1"
_LIMITS = (("reportingInstance", 128), ("action", 128), ("reason", 128), ("message", 1024))
_UNSET = ("firstTimestamp", "lastTimestamp", "count")
_IMMUTABLE = ("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type")
_IMMUTABLE_TOO = ("eventTime", "action", "related", "reportingComponent", "reportingInstance")


def to_core(obj: Object) -> Object:
    """An events.k8s.io/v1 event in core/v1's spelling."""
    renamed = {_RENAMED.get(field, field): value for field, value in obj.items()}
    renamed["apiVersion"] = "v1"
    return renamed


def from_core(obj: Object) -> Object:
    """A core/v1 event in events.k8s.io/v1's spelling."""
    renamed = {_RENAMED_BACK.get(field, field): value for field, value in obj.items()}
    renamed["apiVersion"] = "events.k8s.io/v1"
    return renamed


class EventBehaviour(Behaviour):
    """Events; a PUT may create one, and no propagation policy applies to them."""

    allow_create_on_update = True
    collects_garbage = False
    status_fields = ()

    def default(self, obj: Object, call: Call) -> None:
        """Fields that the server always shows."""
        for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
            obj.setdefault(field, None)
        for field in ("reportingComponent", "reportingInstance"):
            obj.setdefault(field, "")
        for field in ("involvedObject", "source"):
            obj.setdefault(field, {})

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """The namespace is the involved object's; an event with an eventTime says who reports it."""
        errors = _validate(obj, call)
        if call.version == STRICT:
            if not obj.get("eventTime"):
                errors.append(required("eventTime"))
            if obj.get("type") not in ("Normal", "Warning"):
                errors.append(invalid("type", "", f"has invalid value: {obj.get('type') or ''}"))
            errors += [invalid(field, "", "needs to be unset") for field in _UNSET if obj.get(field)]
            if obj.get("source"):
                errors.append(invalid("source", "", "needs to be unset"))
            errors += _validate_series(obj)
        return errors

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """Through events.k8s.io only the series changes."""
        errors = _validate(new, call)
        if call.version == STRICT:
            if new.get("series") != old.get("series"):
                errors += _validate_series(new)
            for field in (*_IMMUTABLE, *_IMMUTABLE_TOO):
                if (new.get(field) or None) != (old.get(field) or None):
                    name = "reportingController" if field == "reportingComponent" else field
                    errors += immutable(name, new.get(field), old.get(field))
        return errors

    def fields(self) -> Mapping[str, FieldReader]:
        """Selectable fields of events, in core/v1's spelling."""
        return _FIELDS

    def field_aliases(self) -> Mapping[str, str]:
        """The spellings of events.k8s.io/v1."""
        return _ALIASES


def _validate(obj: Object, call: Call) -> list[FieldError]:
    errors: list[FieldError] = []
    namespace = obj["metadata"].get("namespace", "")
    involved = (obj.get("involvedObject") or {}).get("namespace", "")
    if obj.get("eventTime"):
        matches = bool(involved) or namespace in ("default", "kube-system")
        reporter = "reportingController" if call.version == STRICT else "reportingComponent"
        for name, field in (
            (reporter, "reportingComponent"),
            ("reportingInstance", "reportingInstance"),
            ("action", "action"),
            ("reason", "reason"),
        ):
            if not obj.get(field):
                errors.append(required(name))
            if field == "reportingComponent":
                value = obj.get(field) or ""
                errors += [invalid(name, value, problem) for problem in qualified_name_problems(value)]
        for field, limit in _LIMITS:
            if len(obj.get(field) or "") > limit:
                errors.append(invalid(field, "", f"can have at most {limit} characters"))
    else:
        matches = (involved or "default") == namespace
    if not matches:
        errors.insert(0, invalid("involvedObject.namespace", involved, "does not match event.namespace"))
    return errors


def _validate_series(obj: Object) -> list[FieldError]:
    series = obj.get("series")
    if not series:
        return []
    errors = []
    if series.get("count", 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors


def _source(obj: Object) -> str:
    return text_field("source", "component")(obj) or text_field("reportingComponent")(obj)


_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_FIELDS: Mapping[str, FieldReader] = {
    **{f"involvedObject.{name}": text_field("involvedObject", name) for name in _INVOLVED},
    "reason": text_field("reason"),
    "reportingComponent": text_field("reportingComponent"),
    "source": _source,
    "type": text_field("type"),
}
_ALIASES = {
    **{f"regarding.{name}": f"involvedObject.{name}" for name in _INVOLVED},
    "reportingController": "reportingComponent",
}
