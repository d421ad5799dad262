"""ResourceClaim and DeviceClass: v1 objects to what the allocator works on."""

from __future__ import annotations

from dataclasses import replace
from sys import intern

from dra_allocator.claim import DeviceClass, DeviceRequest, OpaqueConfig, ResourceClaim
from dra_api.decode.fields import Raw, Unsupported, below, decoded, items, mapping, optional_text, text
from dra_api.decode.requests import config, constraint, request, selectors
from dra_api.errors import DecodeError


def resource_claim(obj: object) -> ResourceClaim:
    """Return a ResourceClaim, its spec only (see `allocation_result` for the status).

    A request that is not understood is kept with `unsupported` set, so that the claim is refused by name; a
    configuration that is not understood does that to the claim's first request. Raises DecodeError for wrong types.
    """
    return decoded("ResourceClaim", obj, _claim)


def _claim(obj: Raw) -> ResourceClaim:
    metadata = mapping(obj, "metadata")
    spec = mapping(obj, "spec")
    devices = below(obj, "spec", lambda spec: mapping(spec, "devices"))
    try:
        requests = items(devices, "requests", request)
        constraints = items(devices, "constraints", constraint)
        configuration: tuple[OpaqueConfig, ...] = ()
        try:
            configuration = items(devices, "config", config)
        except Unsupported as unsupported:
            requests = _refuse(requests, str(unsupported))
    except DecodeError as error:
        raise error.within("spec.devices") from error
    return ResourceClaim(
        uid=text(metadata, "uid"),
        namespace=intern(text(metadata, "namespace")),
        name=text(metadata, "name"),
        requests=requests,
        constraints=constraints,
        config=configuration,
        classic_controller=optional_text(spec, "controller") or None,
    )


def _refuse(requests: tuple[DeviceRequest, ...], reason: str) -> tuple[DeviceRequest, ...]:
    if not requests:  # nothing is asked for, so nothing is configured either
        return requests
    return (replace(requests[0], unsupported=requests[0].unsupported or reason), *requests[1:])


def device_class(obj: object) -> DeviceClass:
    """Return a DeviceClass. What is not understood makes it unsupported. Raises DecodeError for wrong types."""
    return decoded("DeviceClass", obj, _class)


def _class(obj: Raw) -> DeviceClass:
    name = intern(text(mapping(obj, "metadata"), "name"))
    spec = mapping(obj, "spec")
    try:
        return DeviceClass(
            name=name,
            selectors=selectors(spec),
            config=items(spec, "config", config),
            extended_resource_name=optional_text(spec, "extendedResourceName"),
        )
    except Unsupported as unsupported:
        return DeviceClass(name, unsupported=str(unsupported))
    except DecodeError as error:
        raise error.within("spec") from error
