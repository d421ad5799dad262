"""The spec of a claim: requests, constraints, configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dra_api.names import label_problems, subdomain_problems
from dra_api.validation.configuration import configuration
from dra_api.validation.derived import DerivedAttributes
from dra_api.validation.errors import invalid, not_supported, required
from dra_api.validation.formats import fully_qualified_name, names
from dra_api.validation.lists import Errors, Raw, items, unique_items
from dra_api.validation.rules import Rules
from dra_api.validation.selectors import selectors
from dra_api.validation.taints import tolerations

MAX_REQUESTS = 32
MAX_CONSTRAINTS = 32
MAX_CONFIG = 32
MAX_ALTERNATIVES = 8
MODES = ("All", "ExactCount")

RequestNames = Mapping[str, frozenset[str]]
"""The subrequests of each request."""

_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"


def claim_spec(path: str, spec: Raw, rules: Rules) -> Errors:
    """Check the spec of a new claim (or of the claim in a template)."""
    devices: Raw = spec.get("devices") or {}
    where = f"{path}.devices"
    requests = devices.get("requests") or []
    constraints = devices.get("constraints") or []
    derived = DerivedAttributes(constraints, rules)
    known = request_names(devices)

    def request(at: str, value: Raw) -> Errors:
        return _request(at, value, rules, derived)

    def constraint(at: str, value: Raw) -> Errors:
        return _constraint(at, value, known, rules)

    def config(at: str, value: Raw) -> Errors:
        yield from request_references(f"{at}.requests", value.get("requests") or (), known)
        yield from configuration(at, value, stored=False)

    yield from unique_items(f"{where}.requests", requests, MAX_REQUESTS, request, _name)
    yield from items(f"{where}.constraints", constraints, MAX_CONSTRAINTS, constraint)
    yield from items(f"{where}.config", devices.get("config") or (), MAX_CONFIG, config)
    yield from derived.total_cost(where)


def request_names(devices: Raw) -> RequestNames:
    """Return the names of a claim's requests and their subrequests."""
    return {
        _name(request): frozenset(_name(sub) for sub in request.get("firstAvailable") or ())
        for request in devices.get("requests") or ()
    }


def request_references(path: str, values: Sequence[str], known: RequestNames) -> Errors:
    """Check references to requests: `request` or `request/subrequest`, without duplicates."""
    return unique_items(path, values, MAX_REQUESTS, lambda at, value: request_reference(at, value, known))


def request_reference(path: str, value: str, known: RequestNames) -> Errors:
    """Check one reference to a request."""
    parts = value.split("/")
    if len(parts) > 2:
        yield invalid(path, value, _REFERENCE)
        return
    for part in parts:
        yield from names(path, part, label_problems)
    if parts[0] not in known or (len(parts) == 2 and parts[1] not in known[parts[0]]):
        yield invalid(path, value, _REFERENCE)


def _name(value: Raw) -> str:
    return value.get("name") or ""


def _request(path: str, value: Raw, rules: Rules, derived: DerivedAttributes) -> Errors:
    yield from names(f"{path}.name", _name(value), label_problems)
    exactly: Raw | None = value.get("exactly")
    alternatives = value.get("firstAvailable") or []
    if exactly is not None and alternatives:
        yield invalid(path, None, f"{_ONE_KIND}, but multiple fields are set")
    elif exactly is not None:
        yield from _exact(f"{path}.exactly", exactly, rules, derived, _name(value))
    elif alternatives:

        def subrequest(at: str, sub: Raw) -> Errors:
            yield from names(f"{at}.name", _name(sub), label_problems)
            yield from _exact(at, sub, rules, derived, f"{_name(value)}/{_name(sub)}")

        yield from unique_items(f"{path}.firstAvailable", alternatives, MAX_ALTERNATIVES, subrequest, _name)
    else:
        yield required(path, _ONE_KIND)


def _exact(path: str, value: Raw, rules: Rules, derived: DerivedAttributes, reference: str) -> Errors:
    device_class = value.get("deviceClassName") or ""
    if device_class:
        yield from names(f"{path}.deviceClassName", device_class, subdomain_problems)
    else:
        yield required(f"{path}.deviceClassName")
    yield from selectors(path, value, rules)
    yield from derived.check(path, value, reference)
    yield from _mode(path, value)
    yield from tolerations(path, value)


def _mode(path: str, value: Raw) -> Errors:
    mode, count = value.get("allocationMode") or "", value.get("count") or 0
    if mode == "All":
        if count:
            yield invalid(f"{path}.count", count, f"must not be specified when allocationMode is '{mode}'")
    elif mode != "ExactCount":
        yield not_supported(f"{path}.allocationMode", mode, MODES)
    elif count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")


def _constraint(path: str, value: Raw, known: RequestNames, rules: Rules) -> Errors:
    yield from request_references(f"{path}.requests", value.get("requests") or (), known)
    match: Any = value.get("matchAttribute")
    distinct: Any = value.get("distinctAttribute")
    if match is not None:
        yield from fully_qualified_name(f"{path}.matchAttribute", match)
    elif distinct is not None:
        yield from fully_qualified_name(f"{path}.distinctAttribute", distinct)
    elif rules.features.consumable_capacity:
        yield required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required')
    else:
        yield required(f"{path}.matchAttribute")
