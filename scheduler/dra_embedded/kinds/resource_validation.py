"""A container's resources: amounts that can be, requests within limits (core/v1 ResourceRequirements)."""

from __future__ import annotations

from typing import Any

from dra_api.quantity import Quantity
from dra_api.validation import FieldError
from dra_api.validation.errors import invalid, required

Object = dict[str, Any]

_NANOS = 10**9


def resource_errors(resources: Object, path: str) -> list[FieldError]:
    """What is wrong with the limits and requests of a container."""
    limits = {name: Quantity.parse(str(value)) for name, value in (resources.get("limits") or {}).items()}
    requests = {name: Quantity.parse(str(value)) for name, value in (resources.get("requests") or {}).items()}
    errors: list[FieldError] = []
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            errors += _amount(f"{path}.{field}[{name}]", name, amount)
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is None:
            if not _overcommits(name):
                errors.append(required(f"{path}.limits", "Limit must be set for non overcommit resources"))
        elif amount != limit and not _overcommits(name):
            errors.append(invalid(f"{path}.requests", str(amount), f"must be equal to {name} limit of {limit}"))
        elif amount > limit:
            errors.append(
                invalid(f"{path}.requests", str(amount), f"must be less than or equal to {name} limit of {limit}")
            )
    return errors


def _amount(path: str, name: str, amount: Quantity) -> list[FieldError]:
    if amount.nanos < 0:
        return [invalid(path, str(amount), "must be greater than or equal to 0")]
    if _is_extended(name) and amount.nanos % _NANOS:
        return [invalid(path, str(amount), "must be an integer")]
    return []


def _is_extended(name: str) -> bool:
    """Whether a resource is a device plugin's or a DeviceClass's (KEP-5004) and not one of Kubernetes' own."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _overcommits(name: str) -> bool:
    """Whether more of a resource may be allowed than is requested."""
    return not _is_extended(name) and not name.startswith("hugepages-")
