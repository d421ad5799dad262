"""What is asked for: ResourceClaim, request, constraint, DeviceClass (resource.k8s.io/v1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dra_allocator.device import TaintEffect
from dra_cel.quantity import Quantity

AllocationMode = Literal["ExactCount", "All"]


@dataclass(frozen=True, slots=True)
class Toleration:
    """Tolerates taints of devices. `key` empty with operator Exists: every taint. `effect` None: every effect."""

    key: str = ""
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str = ""
    effect: TaintEffect | None = None
    toleration_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class DerivedAttribute:
    """An attribute that a request computes for its constraints (Kubernetes 1.37, DRADerivedAttributes)."""

    name: str
    expression: str


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """One request for devices, or one alternative (subrequest) of a prioritized list.

    Exactly one of two forms: `first_available` empty and the rest in force, or `first_available` set (KEP-4816) and
    the rest at its default. `unsupported` names what the decoder did not understand: the claim is then refused.
    `selectors` are CEL texts, `count` is at least 1 and only read with mode ExactCount.
    """

    name: str
    device_class: str = ""
    selectors: tuple[str, ...] = ()
    mode: AllocationMode = "ExactCount"
    count: int = 1
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()
    capacity: Mapping[str, Quantity] = field(default_factory=dict)
    derived_attributes: tuple[DerivedAttribute, ...] = ()
    first_available: tuple[DeviceRequest, ...] = ()
    unsupported: str | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """`matchAttribute` or `distinctAttribute` over the named requests (none named: all).

    A name is a request or `request/subrequest`. `attribute` is fully qualified. `unsupported` as above.
    """

    requests: tuple[str, ...]
    kind: Literal["match", "distinct"]
    attribute: str
    unsupported: str | None = None


@dataclass(frozen=True, slots=True)
class OpaqueConfig:
    """Configuration for drivers; `parameters` is the raw JSON value, never looked into."""

    driver: str
    parameters: object
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceClaim:
    """A claim to allocate. `classic_controller` is null outside Kubernetes 1.31."""

    uid: str
    namespace: str
    name: str
    requests: tuple[DeviceRequest, ...]
    constraints: tuple[Constraint, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()
    classic_controller: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A DeviceClass: selectors and configuration in force for every request that names it.

    `unsupported` names what the decoder did not understand: a request that names the class is then refused.
    """

    name: str
    selectors: tuple[str, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()
    extended_resource_name: str | None = None
    unsupported: str | None = None
