"""The devices that ResourceSlices in manifests publish, as selectors see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.manifests import Document, Problem
from dra_cel.device import DeviceFields


@dataclass(frozen=True, slots=True)
class PublishedDevice:
    """One device.

    Attributes:
        pool: the pool it is in.
        name: its name there.
        fields: what selectors read.
        unreadable: why every selector fails on it, or None.

    """

    pool: str
    name: str
    fields: DeviceFields
    unreadable: str | None


def published_devices(documents: Sequence[Document]) -> tuple[list[PublishedDevice], list[Problem]]:
    """Return the devices of all slices in the order of the files, and what is wrong with slices."""
    devices: list[PublishedDevice] = []
    problems: list[Problem] = []
    for document in documents:
        if document.object.get("kind") != "ResourceSlice":
            continue
        try:
            found = decode.resource_slice(document.object)
        except DecodeError as error:
            problems.append(document.problem(error))
            continue
        for device in found.devices:
            capacity = {name: amount.value for name, amount in device.capacity.items()}
            fields = DeviceFields(found.driver, device.attributes, capacity, device.allow_multiple_allocations)
            devices.append(PublishedDevice(found.pool, device.name, fields, device.unreadable))
    return devices, problems
