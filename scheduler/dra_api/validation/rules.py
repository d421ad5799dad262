"""What the rules depend on."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_allocator.features import Features


@dataclass(frozen=True, slots=True)
class Rules:
    """The feature gates of the server; `partitionable_devices_type` is DRAPartitionableDevicesType."""

    features: Features = field(default_factory=Features)
    partitionable_devices_type: bool = False
