"""Taints of devices and tolerations of requests (KEP-5055)."""

from __future__ import annotations

from dra_api.validation.errors import invalid, not_supported, required
from dra_api.validation.formats import label_key, label_value
from dra_api.validation.lists import Errors, Raw, items

EFFECTS = ("NoExecute", "NoSchedule", "None")
TOLERATION_OPERATORS = ("Equal", "Exists")


def taint(path: str, value: Raw) -> Errors:
    """Check a device's taint (KEP-5055)."""
    yield from label_key(f"{path}.key", value.get("key") or "")
    yield from label_value(f"{path}.value", value.get("value") or "")
    effect = value.get("effect") or ""
    if not effect:
        yield required(f"{path}.effect")
    elif effect not in EFFECTS:
        yield not_supported(f"{path}.effect", effect, EFFECTS)


def toleration(path: str, value: Raw) -> Errors:
    """Check a toleration of a device's taints."""
    if key := value.get("key"):
        yield from label_key(f"{path}.key", key)
    operator = value.get("operator") or ""
    if operator == "Exists":
        if value.get("value"):
            yield invalid(f"{path}.value", value["value"], "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from label_value(f"{path}.value", value.get("value") or "")
    elif operator:
        yield not_supported(f"{path}.operator", operator, TOLERATION_OPERATORS)
    else:
        yield required(f"{path}.operator")
    effect = value.get("effect")
    if effect and effect not in EFFECTS:
        yield not_supported(f"{path}.effect", effect, EFFECTS)


def tolerations(path: str, value: Raw) -> Errors:
    """Check the `tolerations` of a request or result; there is no limit on their number."""
    return items(f"{path}.tolerations", value.get("tolerations") or (), None, toleration)
