"""The journal, the byte-bounded cache, and the masks that use them."""

from __future__ import annotations

import numpy as np

from dra_allocator.budget import UNLIMITED
from dra_allocator.claim import DeviceClass
from dra_allocator.journal import Journal
from dra_allocator.lru import ByteLru
from dra_allocator.masks import MaskStore
from dra_allocator.selection import Selections
from dra_allocator.table import Table
from support.devices import DRIVER, Calls, device, request, resource_slice

MODEL = f'device.attributes["{DRIVER}"].model == "a"'


def test_a_journal_gives_what_is_newer_and_says_when_it_has_forgotten() -> None:
    journal: Journal[int] = Journal(limit=4)
    for number in range(4):
        journal.add(number)
    assert journal.since(1) == [1, 2, 3]
    assert journal.since(journal.position) == []
    journal.add(4)
    assert journal.since(1) is None
    assert journal.since(2) == [2, 3, 4]


def test_the_least_recently_used_value_goes_first() -> None:
    cache: ByteLru[str] = ByteLru(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    assert cache.get("a") == "A"
    cache.put("c", "C", 4)
    assert cache.get("b") is None
    assert (len(cache), cache.bytes) == (2, 8)
    cache.put("a", "A", 100)
    assert (len(cache), cache.bytes) == (1, 100)


def table_of(count: int) -> Table:
    table = Table()
    for number in range(count // 64):
        devices = [device(f"d{n}", model="ab"[n % 2]) for n in range(64)]
        table.apply_slice(resource_slice(f"s{number:04}", devices, node=f"n{number}"))
    return table


def test_masks_of_a_large_table_are_made_in_steps() -> None:
    table, store = table_of(64 * 400), MaskStore(1 << 20)
    steps = 1
    while not store.prepare(table, MODEL, Calls(0)):
        steps += 1
    assert steps > 4
    assert int(np.count_nonzero(store.get(table, MODEL).match)) == 32 * 400


def test_masks_follow_changes_during_and_after_their_making() -> None:
    table, store = table_of(64 * 400), MaskStore(1 << 20)
    assert not store.prepare(table, MODEL, Calls(0))
    table.apply_slice(resource_slice("s0000", [device("x", model="a")], node="n0"))
    assert store.prepare(table, MODEL, UNLIMITED)
    assert int(np.count_nonzero(store.get(table, MODEL).match)) == 32 * 399 + 1
    table.remove_slice("s0001")
    table.apply_slice(resource_slice("t", [device(f"t{n}", model="a") for n in range(100)], node="t"))
    assert int(np.count_nonzero(store.get(table, MODEL).match)) == 32 * 398 + 101


def test_masks_of_texts_no_longer_asked_for_are_dropped() -> None:
    table, store = table_of(640), MaskStore(6000)
    first = store.get(table, MODEL)
    for number in range(10):
        store.get(table, f"{MODEL} && {number} == {number}")
    assert store.get(table, MODEL) is not first
    assert int(np.count_nonzero(store.get(table, MODEL).match)) == 320


def test_requests_that_are_alike_have_one_selection_until_their_class_changes() -> None:
    selections = Selections.of_table(Table())
    first, other = DeviceClass("gpu", ("true",)), DeviceClass("gpu", ("false",))
    one = selections.of(request("a", selectors=("1 == 1",)), first)
    assert selections.of(request("b", count=3, selectors=("1 == 1",)), first) is one
    assert selections.of(request("a"), first).signature != one.signature
    assert selections.of(request("a", selectors=("1 == 1",), admin_access=True), first).signature != one.signature
    changed = selections.of(request("a", selectors=("1 == 1",)), other)
    assert changed.signature.selectors == ("false", "1 == 1")
    for number in range(2000):
        selections.of(request("a", selectors=(f"{number} == 1",)), other)
    again = selections.of(request("a", selectors=("1 == 1",)), first)
    assert (again.signature, hash(again.signature)) == (one.signature, hash(one.signature))
