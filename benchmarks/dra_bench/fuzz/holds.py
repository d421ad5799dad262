"""What must hold of an allocation, checked on the decoded slices alone, without the table or the rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from dra_allocator.device import Device, DeviceID, ResourceSlice
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import AllocationResult, DeviceResult
from dra_bench.fuzz.study import PropertyError

Pool = tuple[str, str]
Amounts = Counter[tuple[str, str, str, str]]


class Published:
    """The devices and counter sets of each pool's newest generation."""

    def __init__(self, slices: Iterable[ResourceSlice]) -> None:
        pools: dict[Pool, list[ResourceSlice]] = defaultdict(list)
        for one in slices:
            pools[one.driver, one.pool].append(one)
        self.devices: dict[DeviceID, list[Device]] = defaultdict(list)
        self.counters: Amounts = Counter()
        for (driver, pool), members in pools.items():
            newest = max(one.generation for one in members)
            for one in members:
                if one.generation == newest:
                    for device in one.devices:
                        self.devices[DeviceID(driver, pool, device.name)].append(device)
                    for offered in one.shared_counters:
                        for name, amount in offered.counters.items():
                            self.counters[driver, pool, offered.name, name] += amount.nanos

    def only(self, device_id: DeviceID) -> Device | None:
        """Return the device; None where it is published more than once: which one is meant depends on the node."""
        found = self.devices.get(device_id, [])
        return found[0] if len(found) == 1 else None


def check_result(published: Published, ledger: Ledger, result: AllocationResult) -> None:
    """Check the result of a claim against what is held by others (not yet by this claim). Raises PropertyError."""
    whole: set[DeviceID] = set()
    for one in result.devices:
        if one.device not in published.devices:
            raise PropertyError(f"{one.device} is not published")
        if one.admin_access:
            continue
        if one.share_id is None:
            if ledger.holders(one.device) or one.device in whole:
                raise PropertyError(f"{one.device} is given away twice")
            whole.add(one.device)
        elif any(holder.share_id is None for holder in ledger.holders(one.device)):
            raise PropertyError(f"a share of {one.device}, which is held as a whole")
    _check_capacity(published, ledger, [one for one in result.devices if not one.admin_access and one.share_id])
    _check_counters(published, ledger, result)


def _check_capacity(published: Published, ledger: Ledger, shares: list[DeviceResult]) -> None:
    taken: Counter[tuple[DeviceID, str]] = Counter()
    for one in shares:
        for name, amount in one.consumed_capacity.items():
            taken[one.device, name] += amount.nanos
    for (device_id, name), more in taken.items():
        device = published.only(device_id)
        if device is None:
            continue
        room = {capacity.published: capacity.value.nanos for capacity in device.capacity.values()}
        held = sum(h.consumed[name].nanos for h in ledger.holders(device_id) if name in h.consumed)
        if more > 0 and held + more > room.get(name, 0):
            raise PropertyError(f"{device_id} has {room.get(name, 0)} of {name}, {held} held, {more} more given away")


def _check_counters(published: Published, ledger: Ledger, result: AllocationResult) -> None:
    held = {device_id for device_id in ledger.held() if device_id in published.devices}
    given = {one.device for one in result.devices if not one.admin_access} - held
    before, more = _consumption(published, held), _consumption(published, given)
    for key, amount in more.items():
        if amount > 0 and before[key] + amount > published.counters[key]:
            raise PropertyError(f"counter {key} has {published.counters[key]}, {before[key]} held, {amount} given away")


def _consumption(published: Published, devices: Iterable[DeviceID]) -> Amounts:
    total: Amounts = Counter()
    for device_id in devices:
        device = published.only(device_id)
        for consumption in device.consumes_counters if device else ():
            counters: Mapping[str, object] = consumption.counters
            for name in counters:
                key = (device_id.driver, device_id.pool, consumption.counter_set, name)
                total[key] += consumption.counters[name].nanos
    return total
