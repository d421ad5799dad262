"""Pods of a group on their way: whether they may be bound, for every order of things."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_scheduler.gang.together import GroupBrokenError, Together

STEPS = st.lists(st.tuples(st.sampled_from(["ready", "not ready", "bound", "failed"]), st.integers(0, 4)), max_size=30)


@given(st.integers(1, 5), st.integers(1, 5), STEPS)
def test_nobody_goes_before_enough_are_ready_and_nobody_waits_in_vain(
    needed: int, members: int, steps: list[tuple[str, int]]
) -> None:
    bound: set[str] = set()
    ready: set[str] = set()
    on_way = {f"p{number}" for number in range(members)}
    woken: set[str] = set()
    together = Together("g", lambda underway: needed - len(bound), woken.add)
    together.join(sorted(on_way))
    opened = False
    for what, number in steps:
        uid = f"p{number}"
        if uid not in on_way:
            continue
        if what in ("ready", "not ready"):
            (ready.add if what == "ready" else ready.discard)(uid)
            opened = opened or len(ready) >= needed - len(bound)
            broken = not opened and len(on_way) < needed - len(bound)
            if broken or together.broken:
                assert not opened
                with pytest.raises(GroupBrokenError):
                    together.may_go(uid, ready=what == "ready")
                return
            assert together.may_go(uid, ready=what == "ready") == (opened and uid in ready)
        elif what == "failed" or (opened and uid in ready):
            if what == "bound":
                bound.add(uid)
            on_way.discard(uid)
            ready.discard(uid)
            together.leave(uid)
            opened = opened or (len(ready) >= needed - len(bound) and bool(on_way))
        if opened or together.broken:
            assert on_way <= woken or not on_way
    assert together.empty == (not on_way)


def test_a_pod_that_comes_later_joins_those_that_wait() -> None:
    together = Together("g", lambda underway: 3, lambda uid: None)
    together.join(["a", "b", "c"])
    assert not together.may_go("a", ready=True)
    together.join(["d"])
    together.leave("c")
    assert not together.may_go("b", ready=True)
    assert together.may_go("d", ready=True)
    assert together.may_go("a", ready=True)


def test_a_change_of_what_the_group_needs_is_seen() -> None:
    needed = 2
    together = Together("g", lambda underway: needed, lambda uid: None)
    together.join(["a", "b"])
    assert not together.may_go("a", ready=True)
    needed = 1
    together.look()
    assert together.may_go("a", ready=True)
