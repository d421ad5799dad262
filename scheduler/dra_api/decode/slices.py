"""ResourceSlice and DeviceTaintRule: v1 objects to what the allocator works on."""

from __future__ import annotations

from sys import intern

from dra_allocator.device import Device, DeviceTaint, DeviceTaintRule, ResourceSlice
from dra_api.decode.devices import counter_set, device, taint
from dra_api.decode.fields import (
    Raw,
    Unsupported,
    below,
    boolean,
    decoded,
    integer,
    items,
    mapping,
    optional_mapping,
    optional_text,
    text,
    texts,
)
from dra_api.decode.nodes import node_scope
from dra_api.decode.requests import selectors
from dra_api.errors import DecodeError


def resource_slice(obj: object) -> ResourceSlice:
    """Return a ResourceSlice with all names fully qualified.

    Devices that are not understood are kept as unsupported. Raises DecodeError for wrong types.
    """
    return decoded("ResourceSlice", obj, _slice)


def _slice(obj: Raw) -> ResourceSlice:
    metadata = mapping(obj, "metadata")
    spec = mapping(obj, "spec")
    try:
        return _spec(spec, intern(text(metadata, "name")), text(metadata, "resourceVersion"))
    except DecodeError as error:
        raise error.within("spec") from error


def _spec(spec: Raw, name: str, version: str) -> ResourceSlice:
    driver = intern(text(spec, "driver"))
    pool, generation, count = below(
        spec, "pool", lambda p: (text(p, "name"), integer(p, "generation"), integer(p, "resourceSliceCount"))
    )
    per_device = boolean(spec, "perDeviceNodeSelection")
    scope = node_scope(spec)

    def read(obj: Raw) -> Device:
        return device(obj, driver, per_device)

    return ResourceSlice(
        name=name,
        resource_version=version,
        driver=driver,
        pool=intern(pool),
        generation=generation,
        slice_count=count,
        scope=None if per_device else scope,
        devices=items(spec, "devices", read),
        shared_counters=items(spec, "sharedCounters", counter_set),
        per_device_node_selection=per_device,
        skip_node_operations=texts(spec, "skipNodeOperations"),
    )


def taint_rule(obj: object) -> DeviceTaintRule:
    """Return a DeviceTaintRule; the class and selectors of Kubernetes 1.33 and 1.34 are included.

    Raises DecodeError for wrong types and for a selector of an unknown kind: a rule that is not understood must not
    silently taint nothing.
    """
    return decoded("DeviceTaintRule", obj, _rule)


def _rule(obj: Raw) -> DeviceTaintRule:
    name = text(mapping(obj, "metadata"), "name")
    spec = mapping(obj, "spec")
    try:
        tainted = below(spec, "taint", taint)
        chosen = optional_mapping(spec, "deviceSelector")
        if chosen is None:
            return DeviceTaintRule(name, tainted, matches_nothing=True)
        return below(spec, "deviceSelector", lambda selector: _selected(name, selector, tainted=tainted))
    except DecodeError as error:
        raise error.within("spec") from error


def _selected(name: str, selector: Raw, *, tainted: DeviceTaint) -> DeviceTaintRule:
    try:
        return DeviceTaintRule(
            name=name,
            taint=tainted,
            driver=optional_text(selector, "driver"),
            pool=optional_text(selector, "pool"),
            device=optional_text(selector, "device"),
            device_class=optional_text(selector, "deviceClassName"),
            selectors=selectors(selector),
        )
    except Unsupported as unsupported:
        raise DecodeError("selectors", str(unsupported), "use selectors with cel.expression") from unsupported
