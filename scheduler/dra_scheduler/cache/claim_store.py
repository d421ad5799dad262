"""Claims as observed, and what we have decided about them and not yet observed.

    unallocated --assume(pod)--> assumed --confirm: an object with this allocation is observed--> allocated
         ^                        |  ^
         |                        |  +-- assume(another pod): it joins the assumed allocation
         +-- forget(last pod) ----+

* An assumption belongs to the pods that were decided with it, and ends with the last of them (`forget`), when the
  allocation is observed, or with the claim. It never expires: as long as a write is under way, or its outcome is not
  known, the devices stay taken.
* A stale event never ends an assumption. The answers to our own writes are observations too (`observe`), so an event
  that is older than the answer is known to be old by its resourceVersion and ignored. (An alternative would be to
  compare contents; but an event from before our write differs from it legitimately.)
* A claim for extended resources (KEP-5004) is made while its pod is being bound. Until then its devices are assumed for
  it by a made-up uid (`expect`); once it exists, the assumption becomes its own (`arrived`).
* Another allocation than the assumed one is a rival's. Both hold their devices in the ledger until ours is forgotten:
  a device must stay in use until both are gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dra_allocator.claim import ResourceClaim
from dra_allocator.outcome import AllocationResult
from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.references import POD_GROUP
from dra_scheduler.versions import is_news

EXTENDED_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""On a claim that a scheduler made for a pod's extended resources; its value is "true"."""
EXPECTED_UID = "extended-resources-of-"
"""Before the uid of a pod: what stands for the uid of its special claim until the API server has given it one."""


class Book(Protocol):
    """The part of the allocator's ledger that claims are entered in."""

    def observe(self, claim_uid: str, result: AllocationResult | None) -> None:
        """What the API says of the claim now."""
        ...

    def assume(self, claim_uid: str, result: AllocationResult) -> None:
        """What we have decided."""
        ...

    def forget(self, claim_uid: str) -> None:
        """The decision is void."""
        ...


@dataclass(slots=True, eq=False)
class Claim:
    """A claim. `raw` is its newest known version (v1) and is never changed in place.

    `spec` None: it cannot be read, `problem` says why. Claims with equal `wants` ask for the same. `reserved_for` are
    the uids in `status.reservedFor`, `reserved_groups` the names of PodGroups there. `owner_group` is the PodGroup
    that the claim was made for. `special`: a scheduler made it for its owner's extended resources.
    """

    uid: str
    namespace: str
    name: str
    raw: Mapping[str, Any]
    spec: ResourceClaim | None = None
    wants: str = ""
    problem: str = ""
    allocation: AllocationResult | None = None
    reserved_for: tuple[str, ...] = ()
    reserved_groups: frozenset[str] = frozenset()
    owner_uid: str = ""
    owner_group: str = ""
    deleting: bool = False
    special: bool = False
    assumed: AllocationResult | None = None
    sharers: set[str] = field(default_factory=set)

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def effective(self) -> AllocationResult | None:
        """The allocation that is, or the one that we are about to write."""
        return self.allocation or self.assumed


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """What an observation changed: `freed` devices became free, `status` or existence changed."""

    claim: Claim
    added: bool = False
    removed: bool = False
    freed: bool = False
    status: bool = False


class ClaimStore:
    """All claims. Only `observe`, `remove`, `assume` and `forget` change it; each keeps the ledger in step."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self.group_owners = False
        """Whether a claim made for a PodGroup is one of its pods' (gate DRAWorkloadResourceClaims)."""
        self._by_key: dict[tuple[str, str], Claim] = {}
        self._by_uid: dict[str, Claim] = {}
        self._special: dict[str, Claim] = {}
        """By uid of the pod for whose extended resources they are."""
        self._expected: dict[str, Claim] = {}
        """Claims that do not exist yet, by their made-up uids."""

    def __len__(self) -> int:
        return len(self._by_uid)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._by_uid.values())

    def get(self, namespace: str, name: str) -> Claim | None:
        """Return the claim of that name."""
        return self._by_key.get((namespace, name))

    def by_uid(self, uid: str) -> Claim | None:
        """Return the claim of that uid."""
        return self._by_uid.get(uid)

    def name_of(self, uid: str) -> tuple[str, str] | None:
        """Return namespace and name of a claim, also of one that is expected, or was when its uid was noted."""
        pod_uid = uid.removeprefix(EXPECTED_UID)
        claim = (
            self._by_uid.get(uid) or self._expected.get(uid) or (self._special.get(pod_uid) if pod_uid != uid else None)
        )
        return None if claim is None else claim.key

    def special_of(self, pod_uid: str) -> Claim | None:
        """Return the claim that exists for the extended resources of a pod."""
        return self._special.get(pod_uid)

    def observe(self, raw: Mapping[str, Any]) -> ClaimChange | None:
        """Take in a version of a claim from the API server; None if it is no newer than what is known."""
        meta = raw["metadata"]
        claim = self._by_uid.get(meta["uid"])
        added = claim is None
        if claim is None:
            claim = self._add(raw)
        elif not is_news(raw, claim.raw):
            return None
        before = claim.allocation
        status_changed = claim.raw.get("status") != raw.get("status")
        claim.raw = raw
        claim.deleting = meta.get("deletionTimestamp") is not None
        self._read_status(claim, raw.get("status") or {})
        self._book.observe(claim.uid, claim.allocation)
        if claim.assumed is not None and claim.allocation is not None and _same(claim.allocation, claim.assumed):
            claim.assumed = None
            claim.sharers.clear()
        # Given up and allocated anew may be seen as one step, after an interrupted watch.
        freed = before is not None and (claim.allocation is None or not _same(before, claim.allocation))
        return ClaimChange(claim, added=added, freed=freed, status=status_changed)

    def knows(self, raw: Mapping[str, Any]) -> bool:
        """Whether `observe` would learn nothing from a version of a claim, in whatever version of the API."""
        meta = raw["metadata"]
        claim = self._by_uid.get(meta["uid"])
        return claim is not None and not is_news(raw, claim.raw)

    def remove(self, uid: str) -> ClaimChange | None:
        """The claim is gone; with it what was assumed."""
        claim = self._by_uid.pop(uid, None)
        if claim is None:
            return None
        if self._by_key.get(claim.key) is claim:
            del self._by_key[claim.namespace, claim.name]
        if self._special.get(claim.owner_uid) is claim:
            del self._special[claim.owner_uid]
        held = claim.effective is not None
        self._book.observe(uid, None)
        self._book.forget(uid)
        claim.allocation = claim.assumed = None
        claim.sharers.clear()
        return ClaimChange(claim, removed=True, freed=held)

    def assume(self, uid: str, allocation: AllocationResult, pod_uid: str) -> None:
        """A pod was decided with this allocation of a claim that is not allocated yet."""
        claim = self._by_uid[uid]
        claim.assumed = allocation
        claim.sharers.add(pod_uid)
        self._book.assume(uid, allocation)

    def forget(self, uid: str, pod_uid: str) -> ClaimChange | None:
        """The pod gives up its part in the assumption; None if nothing became free by it."""
        claim = self._by_uid.get(uid)
        if claim is None or pod_uid not in claim.sharers:
            return None
        claim.sharers.discard(pod_uid)
        if claim.sharers:
            return None
        claim.assumed = None
        self._book.forget(uid)
        return ClaimChange(claim, freed=True)

    def expect(self, spec: ResourceClaim, allocation: AllocationResult) -> None:
        """A pod was decided with a claim that is to be made; until then its devices are held by `spec.uid`."""
        claim = Claim(spec.uid, spec.namespace, spec.name, {"metadata": {}}, spec, assumed=allocation)
        self._expected[spec.uid] = claim
        self._book.assume(spec.uid, allocation)

    def unexpect(self, uid: str) -> ClaimChange | None:
        """Nobody will make the claim; None if it was not expected."""
        claim = self._expected.pop(uid, None)
        if claim is None:
            return None
        self._book.forget(uid)
        claim.assumed = None
        return ClaimChange(claim, freed=True)

    def arrived(self, expected_uid: str, uid: str, pod_uid: str) -> None:
        """The expected claim exists and has been observed with this uid: what was assumed is now assumed for it."""
        expected = self._expected.pop(expected_uid, None)
        if expected is None or expected.assumed is None:
            return
        if self._by_uid[uid].allocation is None:
            self.assume(uid, expected.assumed, pod_uid)
        self._book.forget(expected_uid)

    def _add(self, raw: Mapping[str, Any]) -> Claim:
        meta = raw["metadata"]
        claim = Claim(meta["uid"], meta["namespace"], meta["name"], raw)
        replaced = self._by_key.get(claim.key)
        if replaced is not None:
            self.remove(replaced.uid)
        owners = [o for o in meta.get("ownerReferences") or () if o.get("controller")]
        claim.owner_uid = owners[0].get("uid") or "" if owners else ""
        claim.owner_group = _group_name(owners[0]) if owners else ""
        if (meta.get("annotations") or {}).get(EXTENDED_ANNOTATION) == "true":
            claim.special = True
            self._special[claim.owner_uid] = claim
        try:
            claim.spec = decode.resource_claim(dict(raw))
            claim.wants = repr((claim.spec.requests, claim.spec.constraints))
        except DecodeError as error:
            claim.problem = str(error)
        self._by_key[claim.namespace, claim.name] = claim
        self._by_uid[claim.uid] = claim
        return claim

    def _read_status(self, claim: Claim, status: Mapping[str, Any]) -> None:
        entries = status.get("reservedFor") or ()
        claim.reserved_for = tuple(entry.get("uid") or "" for entry in entries)
        claim.reserved_groups = frozenset(
            entry["name"]
            for entry in entries
            if (entry.get("apiGroup"), entry.get("resource")) == (POD_GROUP.group, POD_GROUP.plural)
        )
        allocation = status.get("allocation")
        if claim.spec is not None:
            claim.problem = ""
        try:
            claim.allocation = None if allocation is None else decode.allocation_result(allocation)
        except DecodeError as error:
            # Which devices it holds now is not known: what it held before stays taken, and nobody can use the claim.
            claim.problem = str(error.of("ResourceClaim", claim.namespace, claim.name))


def _group_name(owner: Mapping[str, Any]) -> str:
    """Return the name of the PodGroup that an owner reference means, whatever the version; "": it is none."""
    group = str(owner.get("apiVersion") or "").rpartition("/")[0]
    return str(owner.get("name") or "") if (group, owner.get("kind")) == (POD_GROUP.group, POD_GROUP.kind) else ""


def _same(one: AllocationResult, other: AllocationResult) -> bool:
    """Whether two allocations pick the same devices for the same requests (the server may fill in other fields)."""
    ours, theirs = _picks(one), _picks(other)
    return ours == theirs or Counter(ours) == Counter(theirs)


def _picks(result: AllocationResult) -> list[tuple[object, ...]]:
    return [(entry.request, entry.device, entry.share_id, bool(entry.admin_access)) for entry in result.devices]
