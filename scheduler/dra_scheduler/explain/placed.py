"""Why the devices of an allocated claim are the ones that it has: what the request asked for, and that they have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dra_allocator.claim import Constraint, DeviceRequest, ResourceClaim
from dra_allocator.device import Device
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_cel.device import DeviceFields
from dra_cel.errors import CelError
from dra_cel.selector import compile_selector
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.inventory.fields import plain


@dataclass(frozen=True, slots=True)
class Selection:
    """A selector of the class or of the request, and whether the device meets it now: `true`, `false` or an error."""

    origin: str
    text: str
    now: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A constraint that the device is under: `match` or `distinct`, the attribute, and the device's value."""

    kind: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """A device of a claim. `request` is `name` or `name/subrequest`; `missing`: it is not published any more."""

    request: str
    device: str
    device_class: str
    asked: str
    selections: tuple[Selection, ...]
    constraints: tuple[Bound, ...]
    consumed: tuple[tuple[str, str], ...]
    config: tuple[str, ...]
    admin: bool
    missing: bool


def chosen(cluster: Cluster, claim: Claim) -> list[Chosen]:
    """Return the devices of an allocated claim, in the order of its results."""
    result = claim.effective
    return [] if result is None else [_chosen(cluster, claim, result, entry) for entry in result.devices]


def request_of(spec: ResourceClaim | None, name: str) -> DeviceRequest | None:
    """Return the request or subrequest that a result names."""
    main, _, sub = name.partition("/")
    found = next((one for one in spec.requests if one.name == main), None) if spec is not None else None
    if found is None or not sub:
        return found
    return next((one for one in found.first_available if one.name == sub), None)


def _chosen(cluster: Cluster, claim: Claim, result: AllocationResult, entry: DeviceResult) -> Chosen:
    request = request_of(claim.spec, entry.request)
    device = cluster.devices.device(entry.device)
    constraints = claim.spec.constraints if claim.spec is not None else ()
    return Chosen(
        request=entry.request,
        device=str(entry.device),
        device_class="" if request is None else request.device_class,
        asked="" if request is None else _asked(request),
        selections=tuple(_selections(cluster, request, entry, device)),
        constraints=tuple(_bounds(constraints, entry.request, device)),
        consumed=tuple((name, str(amount)) for name, amount in sorted(entry.consumed_capacity.items())),
        config=tuple(_config(result, entry)),
        admin=bool(entry.admin_access),
        missing=device is None,
    )


def _asked(request: DeviceRequest) -> str:
    amount = "all devices" if request.mode == "All" else f"{request.count} device{'' if request.count == 1 else 's'}"
    capacity = ", ".join(f"{name} {value}" for name, value in sorted(request.capacity.items()))
    return f"{amount} with {capacity}" if capacity else amount


def _selections(
    cluster: Cluster, request: DeviceRequest | None, entry: DeviceResult, device: Device | None
) -> Iterator[Selection]:
    if request is None:
        return
    known = cluster.devices.classes.get(request.device_class)
    texts = [("class", text) for text in (known[0].selectors if known is not None else ())]
    texts += [("request", text) for text in request.selectors]
    for origin, text in texts:
        yield Selection(origin, text, "unknown" if device is None else _meets(text, entry, device))


def _meets(text: str, entry: DeviceResult, device: Device) -> str:
    capacity = {name: amount.value for name, amount in device.capacity.items()}
    fields = DeviceFields(entry.device.driver, device.attributes, capacity, device.allow_multiple_allocations)
    try:
        return "true" if compile_selector(text).matches(fields) else "false"
    except CelError as error:
        return f"error: {error}"


def _bounds(constraints: Sequence[Constraint], request: str, device: Device | None) -> Iterator[Bound]:
    main = request.partition("/")[0]
    for constraint in constraints:
        if not constraint.requests or {main, request} & set(constraint.requests):
            value = None if device is None else device.attributes.get(constraint.attribute)
            yield Bound(constraint.kind, constraint.attribute, "(none)" if value is None else str(plain(value)))


def _config(result: AllocationResult, entry: DeviceResult) -> Iterator[str]:
    main = entry.request.partition("/")[0]
    for one in result.config:
        if not one.config.requests or {main, entry.request} & set(one.config.requests):
            yield f"for {one.config.driver}, from the {'class' if one.source == 'FromClass' else 'claim'}"
