"""The fields of a device that an expression can see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_cel.quantity import Quantity
from dra_cel.semver import Semver

AttributeValue = bool | int | str | Semver | tuple[bool, ...] | tuple[int, ...] | tuple[str, ...] | tuple[Semver, ...]
"""The value of a DeviceAttribute; lists since Kubernetes 1.36 (ListTypeAttributes)."""


@dataclass(frozen=True, slots=True)
class DeviceFields:
    """One device, as the variable `device` shows it.

    Attributes:
        driver: name of its driver.
        attributes: by fully qualified name `domain/name` (see `qualify`).
        capacity: by fully qualified name.
        allow_multiple_allocations: ConsumableCapacity's field of the same name; absent means False.

    """

    driver: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    capacity: Mapping[str, Quantity] = field(default_factory=dict)
    allow_multiple_allocations: bool = False


def qualify(name: str, driver: str) -> str:
    """Return the fully qualified form of an attribute or capacity name: without a domain it is the driver's."""
    return name if "/" in name else f"{driver}/{name}"
