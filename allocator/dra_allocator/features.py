"""Which of Kubernetes' optional DRA features are in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

GATES: Mapping[str, str] = {
    "DRAAdminAccess": "admin_access",
    "DRAPrioritizedList": "prioritized_list",
    "DRAPartitionableDevices": "partitionable_devices",
    "DRADeviceTaints": "device_taints",
    "DRAConsumableCapacity": "consumable_capacity",
    "DRADeviceBindingConditions": "binding_conditions",
    "DRAListTypeAttributes": "list_type_attributes",
    "DRADeviceCompatibilityGroups": "compatibility_groups",
    "DRADerivedAttributes": "derived_attributes",
    "DRAFractionalCapacityRange": "fractional_capacity_range",
    "DRAOptionalNodeOperations": "optional_node_operations",
}
"""Name of the Kubernetes feature gate to the field of `Features`."""

_NEEDS: Mapping[str, str] = {
    "compatibility_groups": "partitionable_devices",
    "fractional_capacity_range": "consumable_capacity",
}


@dataclass(frozen=True, slots=True)
class Features:
    """One flag per feature; the defaults are those of Kubernetes 1.37."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    consumable_capacity: bool = True
    binding_conditions: bool = True
    list_type_attributes: bool = False
    compatibility_groups: bool = False
    derived_attributes: bool = False
    fractional_capacity_range: bool = False
    optional_node_operations: bool = False

    @classmethod
    def all_on(cls) -> Features:
        """Return every feature on: for offline use."""
        return cls(**{entry.name: True for entry in fields(cls)})

    @classmethod
    def from_gates(cls, gates: Mapping[str, bool]) -> Features:
        """Return the defaults changed by the given Kubernetes feature gates; gates of others are ignored.

        A feature whose prerequisite is off is off too, and binding conditions also need
        DRAResourceClaimDeviceStatus, as in Kubernetes.
        """
        defaults = cls()
        values = {name: gates.get(gate, getattr(defaults, name)) for gate, name in GATES.items()}
        values["binding_conditions"] &= gates.get("DRAResourceClaimDeviceStatus", True)
        for name, prerequisite in _NEEDS.items():
            values[name] &= values[prerequisite]
        return cls(**values)

    @staticmethod
    def gate(name: str) -> str:
        """Return the Kubernetes gate of a field, for messages."""
        return next(gate for gate, field in GATES.items() if field == name)
