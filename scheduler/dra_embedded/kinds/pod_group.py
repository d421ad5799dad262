"""PodGroups (scheduling.k8s.io): priority admission, the policy's rules, and what may change (KEP-4671, KEP-5729).

The finalizer that keeps a group as long as its pods run is not put on groups here: nothing would take it off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.references import POD_GROUP
from dra_api.validation import FieldError
from dra_api.validation.conditions import conditions
from dra_api.validation.errors import duplicate, immutable, invalid, required, too_many
from dra_embedded.kinds.behaviour import Behaviour, Call, Object
from dra_embedded.status import Subject, forbidden

MAX_CLAIMS = 4
MAX_CONDITIONS = 1_000_000
"""There is no limit of its own."""
_SPEC, _STATUS = "spec", "status"


class PodGroupBehaviour(Behaviour):
    """PodGroups; only `schedulingPolicy.gang.minCount` of their spec may change. They have no generation."""

    allow_unconditional_update = False

    def default(self, obj: Object, call: Call) -> None:
        """Pods of a group are disrupted one by one unless it says otherwise."""
        spec = obj.get("spec")
        if isinstance(spec, dict):
            spec.setdefault("disruptionMode", {"single": {}})

    def admit(self, obj: Object, call: Call) -> None:
        """Resolve the priority class (admission plugin Priority). Raises StatusError."""
        spec, metadata = obj["spec"], obj["metadata"]
        subject, wanted = Subject(POD_GROUP.group, POD_GROUP.plural), spec.get("priorityClassName") or ""
        found = call.reads.priority_class(wanted)
        if found is None and wanted:
            raise forbidden(subject, metadata.get("name", ""), f"no PriorityClass with name {wanted} was found")
        value = 0 if found is None else int(found.get("value", 0))
        if found is not None:
            spec["priorityClassName"] = found["metadata"]["name"]
        given = spec.get("priority")
        if given is not None and given != value:
            why = f"priority set in the pod group ({given}) must match the priority computed ({value}) "
            raise forbidden(subject, metadata.get("name", ""), why + "based on the priority class set in the spec")
        spec["priority"] = value

    def prepare_create(self, obj: Object, call: Call) -> None:
        """A group shows an empty status from the start."""
        super().prepare_create(obj, call)
        obj["status"] = {}

    def validate_create(self, obj: Object, call: Call) -> list[FieldError]:
        """The policy is one of two, claims have names of their own and one source each."""
        return [*_policy(obj), *_claims(obj[_SPEC].get("resourceClaims") or [])]

    def validate_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """The policy stays the same, but for the gang's size."""
        errors = self.validate_create(new, call)
        after, before = new[_SPEC], old[_SPEC]
        for field in sorted({*after, *before} - {"schedulingPolicy"}):
            errors += immutable(f"{_SPEC}.{field}", after.get(field), before.get(field))
        for kind in ("basic", "gang"):
            was, now = (each.get("schedulingPolicy", {}).get(kind) is not None for each in (before, after))
            if was != now:
                path = f"{_SPEC}.schedulingPolicy.{kind}"
                errors.append(
                    invalid(path, after["schedulingPolicy"].get(kind), "field cannot be set or cleared once created")
                )
        return errors

    def validate_status_update(self, new: Object, old: Object, call: Call) -> list[FieldError]:
        """Conditions are sound, and names are of entries of the spec."""
        status = new.get(_STATUS) or {}
        errors = list(conditions(f"{_STATUS}.conditions", status.get("conditions") or [], MAX_CONDITIONS))
        names = {each.get("name") for each in new[_SPEC].get("resourceClaims") or ()}
        for index, each in enumerate(status.get("resourceClaimStatuses") or ()):
            if each.get("name") not in names:
                path = f"{_STATUS}.resourceClaimStatuses[{index}].name"
                text = "must match the name of an entry in `spec.resourceClaims`"
                errors.append(invalid(path, each.get("name"), text))
        return errors


def _policy(obj: Object) -> Iterator[FieldError]:
    path = f"{_SPEC}.schedulingPolicy"
    policy: dict[str, Any] = obj[_SPEC].get("schedulingPolicy") or {}
    chosen = [kind for kind in ("basic", "gang") if policy.get(kind) is not None]
    if len(chosen) != 1:
        fields = ", ".join(f"`{kind}`" for kind in chosen)
        what = f"must specify exactly one of: `basic`, `gang`: {{{fields}}}" if chosen else ""
        yield invalid(path, fields, what) if chosen else invalid(path, "", "must specify one of: `basic`, `gang`")
    if policy.get("gang") is not None:
        count = policy["gang"].get("minCount")
        where = f"{path}.gang.minCount"
        if not count:
            yield required(where)
        elif count < 1:
            yield invalid(where, count, "must be greater than or equal to 1")


def _claims(entries: list[Object]) -> Iterator[FieldError]:
    path, seen = f"{_SPEC}.resourceClaims", set()
    if len(entries) > MAX_CLAIMS:
        yield too_many(path, len(entries), MAX_CLAIMS)
    for index, entry in enumerate(entries):
        where, name = f"{path}[{index}]", entry.get("name") or ""
        if not name:
            yield required(f"{where}.name")
        for problem in label_problems(name) if name else ():
            yield invalid(f"{where}.name", name, problem)
        if name in seen:
            yield duplicate(where, entry)
        seen.add(name)
        refs = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if entry.get(field) is not None]
        if len(refs) != 1:
            given = "{" + ", ".join(f'{field}="{entry[field]}"' for field in refs) + "}" if refs else ""
            yield invalid(where, given, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        for field in refs:
            for problem in subdomain_problems(entry[field]):
                yield invalid(f"{where}.{field}", entry[field], problem)
