from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_embedded.patches.json_patch import JsonPatchError, MalformedPatchError, json_patch
from dra_embedded.patches.merge import merge_patch
from dra_embedded.patches.strategic import StrategicPatchError, strategic_merge_patch

scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
)
objects = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches_of_the_standard(target: Any, patch: Any, expected: Any) -> None:
    assert merge_patch(target, patch) == expected


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return value


@given(objects, objects)
def test_a_merge_patch_changes_no_argument_and_applies_only_once(target: Any, patch: Any) -> None:
    before = copy.deepcopy((target, patch))
    merged = merge_patch(target, patch)
    assert (target, patch) == before
    assert merge_patch(merged, patch) == merged


@given(objects)
def test_a_merge_patch_of_nothing_is_the_patch_without_its_nulls(patch: Any) -> None:
    assert merge_patch({}, patch) == without_nulls(patch)


@pytest.mark.parametrize(
    ("target", "operations", "expected"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
        ({"foo": ["a", "c"]}, [{"op": "add", "path": "/foo/1", "value": "b"}], {"foo": ["a", "b", "c"]}),
        ({"foo": ["a"]}, [{"op": "add", "path": "/foo/-", "value": "b"}], {"foo": ["a", "b"]}),
        ({"foo": ["a", "b"]}, [{"op": "remove", "path": "/foo/0"}], {"foo": ["b"]}),
        ({"foo": 1}, [{"op": "replace", "path": "/foo", "value": None}], {"foo": None}),
        ({"a": {"b": 1}, "c": {}}, [{"op": "move", "from": "/a/b", "path": "/c/d"}], {"a": {}, "c": {"d": 1}}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"~": {"/": 1}}, [{"op": "test", "path": "/~0/~1", "value": 1}], {"~": {"/": 1}}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    ],
)
def test_json_patches_of_the_standard(target: Any, operations: Any, expected: Any) -> None:
    before = copy.deepcopy(target)
    assert json_patch(target, operations) == expected
    assert target == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/none"},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "add", "path": "/list/-1", "value": 1},
        {"op": "test", "path": "/list", "value": []},
        {"op": "test", "path": "/list"},
        {"op": "invent", "path": "/list"},
        {"op": "add", "path": "list", "value": 1},
        {"op": "move", "from": "/none", "path": "/a"},
        {"path": "/list"},
    ],
)
def test_a_json_patch_that_does_not_apply_says_which_operation(operation: Any) -> None:
    fine = {"op": "add", "path": "/a", "value": 1}
    with pytest.raises(JsonPatchError, match="operation 1 "):
        json_patch({"list": [1]}, [fine, operation])


@pytest.mark.parametrize("patch", [{}, "x", [1], None])
def test_what_is_no_json_patch_is_malformed(patch: Any) -> None:
    with pytest.raises(MalformedPatchError):
        json_patch({}, patch)


def named(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "image": f"{name}:1"} for name in names]


@pytest.mark.parametrize(
    ("present", "patch", "expected"),
    [
        (named("a", "b"), [{"name": "b", "image": "b:2"}], ["a:1", "b:2"]),
        (named("a", "b"), [{"name": "c", "image": "c:1"}], ["c:1", "a:1", "b:1"]),
        (named("a", "b"), [{"name": "a", "$patch": "delete"}], ["b:1"]),
        (named("a", "b"), [{"$patch": "replace"}, {"name": "c", "image": "c:1"}], ["c:1"]),
        ([], named("a", "b"), ["a:1", "b:1"]),
        (
            named("a", "b", "c"),
            [{"name": "b", "image": "b:2"}, {"name": "d", "image": "d:1"}],
            ["a:1", "b:2", "d:1", "c:1"],
        ),
    ],
)
def test_strategic_patches_merge_containers_by_name(present: Any, patch: Any, expected: list[str]) -> None:
    target = {"spec": {"containers": present}}
    merged = strategic_merge_patch(target, {"spec": {"containers": patch}})
    assert [each["image"] for each in merged["spec"]["containers"]] == expected


def test_the_order_of_elements_can_be_set() -> None:
    patch = {"containers": named("c"), "$setElementOrder/containers": [{"name": name} for name in "cba"]}
    merged = strategic_merge_patch({"containers": named("a", "b")}, patch)
    assert [each["name"] for each in merged["containers"]] == ["c", "b", "a"]
    patch = {"finalizers": ["z"], "$setElementOrder/finalizers": ["z", "y"]}
    assert strategic_merge_patch({"finalizers": ["y"]}, patch) == {"finalizers": ["z", "y"]}


def test_objects_can_be_replaced_deleted_and_pruned() -> None:
    target = {"a": {"x": 1, "y": 2}}
    assert strategic_merge_patch(target, {"a": {"$patch": "replace", "z": 3}}) == {"a": {"z": 3}}
    assert strategic_merge_patch(target, {"a": {"$patch": "delete"}}) == {"a": {}}
    assert strategic_merge_patch(target, {"a": {"$retainKeys": ["y"], "y": 5}}) == {"a": {"y": 5}}
    assert strategic_merge_patch(target, {"a": None}) == {}
    assert strategic_merge_patch({"f": [1, 2, 3]}, {"$deleteFromPrimitiveList/f": [2]}) == {"f": [1, 3]}


def test_ports_of_services_and_of_containers_have_different_keys() -> None:
    service = strategic_merge_patch({"ports": [{"port": 1, "name": "a"}]}, {"ports": [{"port": 1, "name": "b"}]})
    assert service == {"ports": [{"port": 1, "name": "b"}]}
    container = strategic_merge_patch({"ports": [{"containerPort": 1}]}, {"ports": [{"containerPort": 2}]})
    assert container == {"ports": [{"containerPort": 2}, {"containerPort": 1}]}


@pytest.mark.parametrize(
    "patch", [{"$patch": "invent"}, {"containers": [{"image": "no name"}]}, [], "x", {"a": {"$patch": "invent"}}]
)
def test_senseless_directives_are_errors(patch: Any) -> None:
    with pytest.raises(StrategicPatchError):
        strategic_merge_patch({"containers": named("a"), "a": {}}, patch)


names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)


@given(names, names)
def test_merged_lists_hold_each_element_once_and_both_orders(present: list[str], patch: list[str]) -> None:
    merged = strategic_merge_patch({"containers": named(*present)}, {"containers": named(*patch)})["containers"]
    result = [each["name"] for each in merged]
    assert sorted(result) == sorted({*present, *patch})
    assert [name for name in result if name in patch] == patch
    rest = [name for name in present if name not in patch]
    assert [name for name in result if name in rest] == rest


@given(objects, objects)
def test_without_known_lists_a_strategic_patch_is_a_merge_patch(target: Any, patch: Any) -> None:
    before = copy.deepcopy((target, patch))
    assert strategic_merge_patch(target, patch) == merge_patch(target, patch)
    assert (target, patch) == before
