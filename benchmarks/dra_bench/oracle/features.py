"""Kubernetes' optional features of the allocator."""

from __future__ import annotations

FEATURES = {
    "AdminAccess": "admin",
    "CompatibilityGroups": "groups",
    "ConsumableCapacity": "shared",
    "DerivedAttributes": "derived",
    "DeviceBindingAndStatus": "binding",
    "DeviceTaints": "taints",
    "FractionalCapacityRange": "fractional",
    "ListTypeAttributes": "lists",
    "OptionalNodeOperations": "operations",
    "PartitionableDevices": "counters",
    "PrioritizedList": "alternatives",
}
"""Kubernetes' feature to the aspect of clusters that exercises it."""
