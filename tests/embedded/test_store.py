from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dra_embedded.store.store import Store

KEYS = ("a/x", "a/y", "a-b/x", "b/x")
writes = st.lists(st.tuples(st.sampled_from(KEYS), st.booleans()), max_size=60)


def apply(store: Store, key: str, *, remove: bool) -> None:
    if remove:
        if store.get("things", key) is not None:
            store.delete("things", key)
        return
    store.write("things", key, {"metadata": {"name": key}})


def state(store: Store) -> dict[str, int]:
    return {stored.key: stored.revision for stored in store.bucket("things").items(None)}


@given(writes)
def test_every_version_that_is_remembered_can_be_listed(done: list[tuple[str, bool]]) -> None:
    store = Store(history_limit=1000)
    states = {store.revision: state(store)}
    for key, remove in done:
        apply(store, key, remove=remove)
        states[store.revision] = state(store)
    for revision, expected in states.items():
        listed = store.bucket("things").list_at(revision, None)
        assert listed is not None
        assert {stored.key: stored.revision for stored in listed} == expected
        assert [stored.key for stored in listed] == sorted(expected)
        for namespace in ("a", "b", "none"):
            part = store.bucket("things").list_at(revision, namespace)
            assert part is not None
            assert [each.key for each in part] == sorted(key for key in expected if key.startswith(f"{namespace}/"))


@given(writes, st.integers(1, 5))
def test_a_position_is_known_exactly_while_all_later_changes_are_remembered(
    done: list[tuple[str, bool]], limit: int
) -> None:
    store = Store(history_limit=limit)
    revisions: list[int] = []
    for key, remove in done:
        before = store.revision
        apply(store, key, remove=remove)
        if store.revision > before:
            revisions.append(store.revision)
    history = store.bucket("things").history
    for revision in range(store.revision + 1):
        later = [each for each in revisions if each > revision]
        changes = history.after(revision)
        if changes is None:
            assert len(later) > limit
        else:
            assert [change.revision for change in changes] == later
        if len(later) <= limit:
            assert changes is not None


@given(writes)
def test_a_namespace_lists_its_own_keys_in_order(done: list[tuple[str, bool]]) -> None:
    store = Store()
    for key, remove in done:
        apply(store, key, remove=remove)
    for namespace in ("a", "a-b", "b"):
        keys = [stored.key for stored in store.bucket("things").items(namespace)]
        assert keys == sorted(key for key in state(store) if key.split("/")[0] == namespace)


def test_memory_of_changes_is_bounded() -> None:
    store = Store(history_limit=10)
    for number in range(1000):
        store.write("things", "a/x", {"metadata": {"name": str(number)}})
    history = store.bucket("things").history
    kept = [history.at(position) for position in range(history.end)]
    assert len([change for change in kept if change is not None]) <= 20
    assert history.end == 1000


def test_the_version_of_a_deletion_is_newer_than_the_object() -> None:
    store = Store()
    written = store.write("things", "a/x", {"metadata": {"name": "x"}})
    deleted = store.delete("things", "a/x")
    assert deleted.revision == written.revision + 1
    assert deleted.object["metadata"]["resourceVersion"] == str(deleted.revision)
    assert written.object["metadata"]["resourceVersion"] == str(written.revision)


def test_listeners_hear_every_change_within_the_write() -> None:
    store = Store()
    heard: list[tuple[str, str]] = []

    def listen(bucket: str, change: Any) -> None:
        kind = "+" if change.previous is None else "-" if change.current is None else "~"
        heard.append((bucket, kind))

    store.listeners.append(listen)
    store.write("things", "a/x", {"metadata": {}})
    store.write("things", "a/x", {"metadata": {}})
    store.delete("things", "a/x")
    assert heard == [("things", "+"), ("things", "~"), ("things", "-")]
