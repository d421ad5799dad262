import pytest

from dra_allocator.ledger import Ledger
from dra_allocator.outcome import AllocationResult
from dra_api import decode
from dra_scheduler.cache.claim_store import ClaimStore
from support.objects import Raw, make_allocation, make_claim, newer


def result(device: str) -> AllocationResult:
    return decode.allocation_result(make_allocation(device, node="n0"))


def store_with(*claims: Raw) -> tuple[ClaimStore, Ledger]:
    ledger = Ledger()
    store = ClaimStore(ledger)
    for claim in claims:
        store.observe(claim)
    return store, ledger


def holders(ledger: Ledger, device: str) -> set[tuple[str, str]]:
    (entry,) = result(device).devices
    return {(holder.claim_uid, holder.state) for holder in ledger.holders_of(entry.device)}


def test_an_assumption_is_confirmed_by_the_observed_allocation() -> None:
    claim = make_claim("c")
    store, ledger = store_with(claim)
    store.assume("uid-c", result("gpu-0"), "uid-p")
    assert holders(ledger, "gpu-0") == {("uid-c", "assumed")}
    store.observe(newer(claim, allocation=make_allocation("gpu-0", node="n0")))
    known = store.by_uid("uid-c")
    assert known is not None
    assert known.assumed is None
    assert known.allocation == result("gpu-0")
    assert holders(ledger, "gpu-0") == {("uid-c", "observed")}


def test_an_event_without_the_allocation_does_not_end_an_assumption() -> None:
    claim = make_claim("c")
    store, ledger = store_with(claim)
    store.assume("uid-c", result("gpu-0"), "uid-p")
    store.observe(newer(claim))
    assert holders(ledger, "gpu-0") == {("uid-c", "assumed")}


def test_an_event_older_than_the_answer_to_our_write_is_ignored() -> None:
    claim = make_claim("c")
    store, ledger = store_with(claim)
    stale = newer(claim)
    store.assume("uid-c", result("gpu-0"), "uid-p")
    store.observe(newer(claim, allocation=make_allocation("gpu-0", node="n0")))
    assert store.observe(stale) is None
    assert holders(ledger, "gpu-0") == {("uid-c", "observed")}


def test_the_watch_event_of_our_own_write_is_no_news_after_its_answer() -> None:
    claim = make_claim("c")
    store, _ = store_with(claim)
    answer = newer(claim, allocation=make_allocation("gpu-0", node="n0"))
    assert not store.knows(answer)
    assert store.observe(answer) is not None
    assert store.knows(answer)
    assert store.knows(claim)
    assert not store.knows(newer(answer))
    assert store.observe(dict(answer)) is None


def test_devices_stay_taken_until_the_last_of_several_pods_forgets() -> None:
    store, ledger = store_with(make_claim("c"))
    store.assume("uid-c", result("gpu-0"), "uid-p1")
    store.assume("uid-c", result("gpu-0"), "uid-p2")
    assert store.forget("uid-c", "uid-p1") is None
    assert holders(ledger, "gpu-0") == {("uid-c", "assumed")}
    change = store.forget("uid-c", "uid-p2")
    assert change is not None
    assert change.freed
    assert holders(ledger, "gpu-0") == set()


def test_a_rivals_allocation_and_ours_both_hold_until_ours_is_forgotten() -> None:
    claim = make_claim("c")
    store, ledger = store_with(claim)
    store.assume("uid-c", result("gpu-0"), "uid-p")
    store.observe(newer(claim, allocation=make_allocation("gpu-1", node="n0")))
    assert holders(ledger, "gpu-0") == {("uid-c", "assumed")}
    assert holders(ledger, "gpu-1") == {("uid-c", "observed")}
    store.forget("uid-c", "uid-p")
    assert holders(ledger, "gpu-0") == set()


def test_forgetting_after_the_confirmation_changes_nothing() -> None:
    claim = make_claim("c")
    store, ledger = store_with(claim)
    store.assume("uid-c", result("gpu-0"), "uid-p")
    store.observe(newer(claim, allocation=make_allocation("gpu-0", node="n0")))
    assert store.forget("uid-c", "uid-p") is None
    assert holders(ledger, "gpu-0") == {("uid-c", "observed")}


def test_deallocation_and_deletion_free_the_devices() -> None:
    allocated = make_claim("c", allocation=make_allocation("gpu-0", node="n0"))
    store, ledger = store_with(allocated)
    change = store.observe(newer(allocated, allocation=None))
    assert change is not None
    assert change.freed
    assert holders(ledger, "gpu-0") == set()
    store.assume("uid-c", result("gpu-0"), "uid-p")
    removed = store.remove("uid-c")
    assert removed is not None
    assert removed.freed
    assert holders(ledger, "gpu-0") == set()
    assert store.get("default", "c") is None


@pytest.mark.parametrize(("device", "freed"), [("gpu-1", True), ("gpu-0", False)])
def test_a_claim_seen_with_other_devices_than_before_has_freed_some(device: str, freed: bool) -> None:
    before = make_claim("c", allocation=make_allocation("gpu-0", node="n0"))
    store, _ = store_with(before)
    # Deallocated and allocated anew while the watch was down: one step, as far as it is seen.
    change = store.observe(newer(before, allocation=make_allocation(device, node="n0"), devices=[]))
    assert change is not None
    assert change.freed == freed


def test_a_claim_created_anew_under_the_same_name_is_another_one() -> None:
    store, _ = store_with(make_claim("c"))
    again = make_claim("c")
    again["metadata"]["uid"] = "uid-again"
    store.observe(again)
    known = store.get("default", "c")
    assert known is not None
    assert known.uid == "uid-again"
    assert store.by_uid("uid-c") is None


def test_a_claim_that_cannot_be_read_says_why() -> None:
    claim = make_claim("c")
    claim["spec"] = {"devices": {"requests": "gpu"}}
    store, _ = store_with(claim)
    known = store.get("default", "c")
    assert known is not None
    assert "spec.devices.requests" in known.problem
