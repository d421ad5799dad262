"""Label and field selectors of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra_api.errors import SelectorSyntaxError
from dra_api.field_selectors import parse_field_query
from dra_api.labels import LabelMatcher, parse_label_query
from dra_embedded.kinds.behaviour import FieldReader, text_field
from dra_embedded.paths import Target
from dra_embedded.status import bad_request

Object = dict[str, Any]

_NAME, _NAMESPACE = text_field("metadata", "name"), text_field("metadata", "namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request selects; `terms` are (reader, value, equal)."""

    labels: LabelMatcher | None = None
    terms: tuple[tuple[FieldReader, str, bool], ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.labels is None and not self.terms

    def matches(self, obj: Object) -> bool:
        """Whether an object is selected."""
        if any((read(obj) == value) != equal for read, value, equal in self.terms):
            return False
        return self.labels is None or self.labels.matches(obj["metadata"].get("labels"))


EVERYTHING = Selection()


def parse_selection(target: Target, query: Mapping[str, str]) -> Selection:
    """The selectors of a query, and the name in the path. Raises StatusError (400)."""
    label_query, field_query = query.get("labelSelector", ""), query.get("fieldSelector", "")
    if not label_query and not field_query and target.name is None:
        return EVERYTHING
    try:
        labels = parse_label_query(label_query) if label_query else None
        terms = [
            _term(target, each.field, each.value, equal=each.equal) for each in parse_field_query(field_query).terms
        ]
    except SelectorSyntaxError as error:
        raise bad_request(str(error)) from error
    if target.name is not None:
        terms.append((_NAME, target.name, True))
    return Selection(labels, tuple(terms))


def _term(target: Target, field: str, value: str, *, equal: bool) -> tuple[FieldReader, str, bool]:
    behaviour = target.served.behaviour
    if field == "metadata.name":
        return _NAME, value, equal
    if field == "metadata.namespace" and target.served.resource.namespaced:
        return _NAMESPACE, value, equal
    reader = behaviour.fields().get(behaviour.field_aliases().get(field, field))
    if reader is None:
        raise bad_request(f"field label not supported: {field}")
    return reader, value, equal
