"""Contract 4, the ledger: one of what the API says (observed) and of what we decided (assumed) about who holds what.

    state of a claim's devices      event                    next
    not held                        assume                   assumed
    assumed                         observe(same result)     observed
    assumed                         forget                   not held
    assumed                         observe(other result)    both results are held, until forget
    not held, observed              observe(result)          observed
    observed                        observe(None)            not held

A device stays held while any holder holds it: with a rival scheduler two claims can hold the same device, and it
must stay in use until both have let go. A watch event older than our own write says "not allocated" of a claim
that we assume to be allocated: only `forget` ends an assumption that was not confirmed.

Rejected: one holder per device (loses one of two rivals), and dropping the assumption at any event of the claim (a
device could then be given away between our write and its event).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dra_allocator.device import DeviceID
from dra_allocator.journal import Journal
from dra_allocator.outcome import AllocationResult
from dra_allocator.records import PoolID
from dra_cel.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Holder:
    """A claim's hold on a device: all of it, or with `share_id` a share that consumes capacity."""

    claim_uid: str
    share_id: str | None
    consumed: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    state: Literal["observed", "assumed"] = "observed"


@dataclass(slots=True)
class _Entry:
    observed: AllocationResult | None = None
    assumed: AllocationResult | None = None


class Ledger:
    """The holders of all devices. Admin access holds nothing (KEP-5018)."""

    def __init__(self) -> None:
        self.journal: Journal[DeviceID] = Journal()
        self.version = 0
        self._claims: dict[str, _Entry] = {}
        self._holders: dict[DeviceID, tuple[Holder, ...]] = {}
        self._pool_versions: dict[PoolID, int] = {}
        self._conflicts: set[DeviceID] = set()

    def observe(self, claim_uid: str, result: AllocationResult | None) -> None:
        """Note what the API says of a claim now; None: it is not allocated, or gone.

        The result that was assumed confirms the assumption; anything else leaves it as it is.
        """
        entry = self._claims.get(claim_uid)
        if entry is None:
            if result is None:
                return
            entry = self._claims[claim_uid] = _Entry()
        if result is not None and entry.assumed is not None and _same_devices(result, entry.assumed):
            entry.assumed = None
        elif result == entry.observed:
            return
        touched = [*_devices(entry.observed), *_devices(result)]
        entry.observed = result
        self._update(claim_uid, entry, touched)

    def assume(self, claim_uid: str, result: AllocationResult) -> None:
        """Note what we decided for a claim and are about to write."""
        entry = self._claims.setdefault(claim_uid, _Entry())
        touched = [*_devices(entry.assumed), *_devices(result)]
        entry.assumed = result
        self._update(claim_uid, entry, touched)

    def forget(self, claim_uid: str) -> None:
        """End an assumption that will not be confirmed: the write failed, or the claim is gone."""
        entry = self._claims.get(claim_uid)
        if entry is None or entry.assumed is None:
            return
        touched = list(_devices(entry.assumed))
        entry.assumed = None
        self._update(claim_uid, entry, touched)

    def holders(self, device: DeviceID) -> frozenset[Holder]:
        """Return who holds a device."""
        return frozenset(self._holders.get(device, ()))

    def holders_of(self, device: DeviceID) -> tuple[Holder, ...]:
        """Return who holds a device, in the order in which they came."""
        return self._holders.get(device, ())

    def held(self) -> Iterable[DeviceID]:
        """Return the devices that somebody holds."""
        return self._holders.keys()

    def result(self, claim_uid: str) -> AllocationResult | None:
        """Return what a claim has: what the API says, else what we assume."""
        entry = self._claims.get(claim_uid)
        return None if entry is None else entry.observed or entry.assumed

    def devices_of(self, claim_uid: str) -> frozenset[DeviceID]:
        """Return the devices that a claim holds, observed or assumed."""
        entry = self._claims.get(claim_uid)
        return frozenset() if entry is None else frozenset([*_devices(entry.observed), *_devices(entry.assumed)])

    def conflicts(self) -> frozenset[DeviceID]:
        """Return the devices that two claims hold of which one wants the whole device."""
        return frozenset(self._conflicts)

    def pool_version(self, pool_id: PoolID) -> int:
        """Return the version of what is held in a pool; 0: nothing ever was."""
        return self._pool_versions.get(pool_id, 0)

    def _update(self, claim_uid: str, entry: _Entry, touched: Iterable[DeviceID]) -> None:
        if entry.observed is None and entry.assumed is None:
            del self._claims[claim_uid]
        for device in dict.fromkeys(touched):
            others = [holder for holder in self._holders.get(device, ()) if holder.claim_uid != claim_uid]
            holders = (*others, *holders_in(claim_uid, device, entry.observed, entry.assumed))
            if holders:
                self._holders[device] = holders
            else:
                self._holders.pop(device, None)
            self._note(device, holders)

    def _note(self, device: DeviceID, holders: tuple[Holder, ...]) -> None:
        if (
            len(holders) > 1
            and len({holder.claim_uid for holder in holders}) > 1
            and any(holder.share_id is None for holder in holders)
        ):
            self._conflicts.add(device)
        elif self._conflicts:
            self._conflicts.discard(device)
        self.version += 1
        self._pool_versions[PoolID(device.driver, device.pool)] = self.version
        self.journal.add(device)


def holders_in(
    claim_uid: str, device: DeviceID, observed: AllocationResult | None, assumed: AllocationResult | None
) -> Iterator[Holder]:
    """Yield the holds of one claim on a device; what is both observed and assumed counts once."""
    seen: set[str | None] = set()
    for state, result in (("observed", observed), ("assumed", assumed)):
        for entry in result.devices if result else ():
            if entry.device == device and not entry.admin_access and entry.share_id not in seen:
                seen.add(entry.share_id)
                yield Holder(
                    claim_uid, entry.share_id, entry.consumed_capacity, "observed" if state == "observed" else "assumed"
                )


def _devices(result: AllocationResult | None) -> Iterator[DeviceID]:
    if result is not None:
        for entry in result.devices:
            if not entry.admin_access:
                yield entry.device


def _same_devices(one: AllocationResult, other: AllocationResult) -> bool:
    def picks(result: AllocationResult) -> Counter[object]:
        return Counter(
            (entry.request, entry.device, entry.share_id, bool(entry.admin_access)) for entry in result.devices
        )

    return picks(one) == picks(other)
