"""Node selectors (core/v1 NodeSelector)."""

from __future__ import annotations

from dra_api.names import subdomain_problems
from dra_api.validation.errors import forbidden, invalid, required
from dra_api.validation.formats import label_key, label_value, names
from dra_api.validation.lists import Errors, Raw, items


def node_selector(path: str, value: Raw) -> Errors:
    """Check a node selector (core/v1)."""
    terms = value.get("nodeSelectorTerms") or []
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for i, term in enumerate(terms):
        where = f"{path}.nodeSelectorTerms[{i}]"
        yield from items(f"{where}.matchExpressions", term.get("matchExpressions") or (), None, _label_requirement)
        yield from items(f"{where}.matchFields", term.get("matchFields") or (), None, _field_requirement)


def _label_requirement(path: str, value: Raw) -> Errors:
    operator, values = value.get("operator") or "", value.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator not in ("Gt", "Lt"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    yield from label_key(f"{path}.key", value.get("key") or "")
    yield from items(f"{path}.values", values, None, label_value)


def _field_requirement(path: str, value: Raw) -> Errors:
    operator, values = value.get("operator") or "", value.get("values") or []
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        yield required(
            f"{path}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if value.get("key") != "metadata.name":
        yield invalid(f"{path}.key", value.get("key") or "", "not a valid field selector key")
    else:
        yield from items(f"{path}.values", values, None, lambda where, name: names(where, name, subdomain_problems))
