"""The ledger: observed, assumed, and both at once."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dra_allocator.device import DeviceID
from dra_allocator.ledger import Ledger
from dra_allocator.outcome import AllocationResult
from dra_allocator.records import PoolID
from support.devices import DRIVER, holding

D0 = DeviceID(DRIVER, "p", "d0")
D1 = DeviceID(DRIVER, "p", "d1")


def states(ledger: Ledger, device: DeviceID) -> list[tuple[str, str]]:
    return sorted((holder.claim_uid, holder.state) for holder in ledger.holders(device))


def test_what_the_api_says_is_held_until_it_says_otherwise() -> None:
    ledger = Ledger()
    ledger.observe("a", holding("d0", pool="p"))
    assert states(ledger, D0) == [("a", "observed")]
    ledger.observe("a", None)
    assert states(ledger, D0) == []
    assert list(ledger.held()) == []


def test_the_observed_result_confirms_the_assumed_one() -> None:
    ledger = Ledger()
    ledger.assume("a", holding("d0", pool="p"))
    assert states(ledger, D0) == [("a", "assumed")]
    ledger.observe("a", holding("d0", pool="p"))
    assert states(ledger, D0) == [("a", "observed")]
    ledger.forget("a")
    assert states(ledger, D0) == [("a", "observed")]


def test_an_event_older_than_our_write_does_not_end_the_assumption() -> None:
    ledger = Ledger()
    ledger.observe("a", None)
    ledger.assume("a", holding("d0", pool="p"))
    ledger.observe("a", None)
    assert states(ledger, D0) == [("a", "assumed")]
    ledger.forget("a")
    assert states(ledger, D0) == []


def test_somebody_elses_allocation_and_ours_are_both_held_until_forgotten() -> None:
    ledger = Ledger()
    ledger.assume("a", holding("d0", pool="p"))
    ledger.observe("a", holding("d1", pool="p"))
    assert states(ledger, D0) == [("a", "assumed")]
    assert states(ledger, D1) == [("a", "observed")]
    assert ledger.result("a") == holding("d1", pool="p")
    ledger.forget("a")
    assert states(ledger, D0) == []


def test_a_device_with_two_holders_stays_in_use_until_both_are_gone() -> None:
    ledger = Ledger()
    ledger.observe("a", holding("d0", pool="p"))
    ledger.observe("b", holding("d0", pool="p"))
    assert ledger.conflicts() == {D0}
    ledger.observe("a", None)
    assert states(ledger, D0) == [("b", "observed")]
    assert ledger.conflicts() == frozenset()


def test_shares_of_one_device_are_no_conflict_unless_one_wants_it_whole() -> None:
    ledger = Ledger()
    ledger.observe("a", holding("d0", pool="p", share_id="s1", memory="1Gi"))
    ledger.observe("b", holding("d0", pool="p", share_id="s2", memory="2Gi"))
    assert ledger.conflicts() == frozenset()
    assert sorted(str(holder.consumed["memory"]) for holder in ledger.holders(D0)) == ["1Gi", "2Gi"]
    ledger.assume("c", holding("d0", pool="p"))
    assert ledger.conflicts() == {D0}


def test_a_claim_may_hold_several_shares_of_a_device() -> None:
    both = [holding("d0", pool="p", share_id=share, memory="1Gi").devices[0] for share in ("s1", "s2")]
    ledger = Ledger()
    ledger.assume("a", AllocationResult(tuple(both)))
    assert {holder.share_id for holder in ledger.holders(D0)} == {"s1", "s2"}


def test_admin_access_holds_nothing() -> None:
    admin = replace(holding("d0", pool="p").devices[0], admin_access=True)
    ledger = Ledger()
    ledger.observe("a", AllocationResult((admin,)))
    assert states(ledger, D0) == []
    assert ledger.result("a") is not None


def test_versions_of_a_pool_change_with_what_is_held_in_it_only() -> None:
    ledger = Ledger()
    ledger.observe("a", holding("d0", pool="p"))
    before = ledger.pool_version(PoolID(DRIVER, "p"))
    ledger.observe("b", holding("d0", pool="q"))
    ledger.observe("a", holding("d0", pool="p"))
    assert ledger.pool_version(PoolID(DRIVER, "p")) == before
    ledger.observe("a", None)
    assert ledger.pool_version(PoolID(DRIVER, "p")) > before


steps = st.lists(
    st.tuples(st.sampled_from(("observe", "gone", "assume", "forget")), st.sampled_from("ab"), st.sampled_from("xyz")),
    max_size=12,
)


@given(steps)
def test_holders_are_always_what_observed_and_assumed_results_say(script: list[tuple[str, str, str]]) -> None:
    ledger = Ledger()
    observed: dict[str, str] = {}
    assumed: dict[str, str] = {}
    for action, uid, name in script:
        if action == "observe":
            ledger.observe(uid, holding(name, pool="p"))
            observed[uid] = name
            if assumed.get(uid) == name:
                del assumed[uid]
        elif action == "gone":
            ledger.observe(uid, None)
            observed.pop(uid, None)
        elif action == "assume":
            ledger.assume(uid, holding(name, pool="p"))
            assumed[uid] = name
        else:
            ledger.forget(uid)
            assumed.pop(uid, None)
    for name in "xyz":
        holders = {uid for known in (observed, assumed) for uid, held in known.items() if held == name}
        assert {holder.claim_uid for holder in ledger.holders(DeviceID(DRIVER, "p", name))} == holders
