"""The devices that the given ResourceSlices publish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dra_allocator.device import Device, ResourceSlice
from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.manifests import Document
from dra_cel.device import DeviceFields

PoolName = tuple[str, str]
"""Driver and pool."""


@dataclass(frozen=True, slots=True)
class SliceSource:
    """A ResourceSlice with its document."""

    document: Document
    slice: ResourceSlice

    @property
    def pool(self) -> PoolName:
        """The pool that it belongs to."""
        return (self.slice.driver, self.slice.pool)


@dataclass(frozen=True, slots=True)
class PublishedDevice:
    """A device of a pool's newest generation; `field` is its path in the slice."""

    source: SliceSource
    field: str
    device: Device
    fields: DeviceFields

    def __str__(self) -> str:
        return f"{self.source.slice.driver}/{self.source.slice.pool}/{self.device.name}"


@dataclass(slots=True)
class Published:
    """All slices, and the devices of the newest generations.

    Attributes:
        slices: by pool, those of all generations, in the order of the files.
        devices: those that can be read.
        is_partial: some slice or device could not be read, so that more may be published than is known.

    """

    slices: dict[PoolName, list[SliceSource]] = field(default_factory=dict)
    devices: list[PublishedDevice] = field(default_factory=list)
    is_partial: bool = False

    def newest(self, pool: PoolName) -> list[SliceSource]:
        """Return the slices of the pool's newest generation."""
        return newest(self.slices[pool])


def newest(slices: Sequence[SliceSource]) -> list[SliceSource]:
    """Return those of the highest generation."""
    generation = max(one.slice.generation for one in slices)
    return [one for one in slices if one.slice.generation == generation]


def published(documents: Iterable[Document]) -> Published:
    """Read the slices among the documents."""
    result = Published()
    for document in documents:
        try:
            source = SliceSource(document, decode.resource_slice(document.object))
        except DecodeError:
            result.is_partial = True  # reported by the rules of the API
            continue
        result.slices.setdefault(source.pool, []).append(source)
    for pool in result.slices:
        for source in result.newest(pool):
            _add_devices(result, source)
    return result


def _add_devices(result: Published, source: SliceSource) -> None:
    driver = source.slice.driver
    for i, device in enumerate(source.slice.devices):
        if device.unsupported is not None or device.unreadable is not None:
            result.is_partial = True
            continue
        capacity = {name: amount.value for name, amount in device.capacity.items()}
        fields = DeviceFields(driver, device.attributes, capacity, device.allow_multiple_allocations)
        result.devices.append(PublishedDevice(source, f"spec.devices[{i}]", device, fields))
