"""The API server's rules for the metadata of objects."""

from __future__ import annotations

from typing import Any

from dra_api.validation import validate_object, validate_update
from support import dra_objects

Obj = dict[str, Any]


def claim() -> Obj:
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}]}}
    return dra_objects.obj("ResourceClaim", spec, namespace="default", resourceVersion="1")


def test_metadata_of_a_stored_object_is_immutable_where_the_server_says_so() -> None:
    old, new = claim(), claim()
    old["metadata"] |= {"uid": "1", "deletionTimestamp": "t", "generation": 2, "finalizers": ["a/b"]}
    new["metadata"] = {"namespace": "default", "name": "d", "generation": 1, "finalizers": ["a/b", "c/d"]}
    assert [error.field for error in validate_update(new, old)] == [
        "metadata.finalizers",
        "metadata.resourceVersion",
        "metadata.generation",
        "metadata.name",
        "metadata.uid",
        "metadata.deletionTimestamp",
    ]


def test_annotations_and_owners_have_their_rules() -> None:
    obj = claim()
    obj["metadata"] |= {
        "annotations": {"a": "x" * 300_000},
        "finalizers": ["orphan", "foregroundDeletion"],
        "generateName": "C-",
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1", "controller": True},
            {"apiVersion": "a/b/c", "kind": "Pod", "name": "q", "controller": True},
            {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "2"},
        ],
    }
    assert [(error.field, error.type) for error in validate_object(obj)] == [
        ("metadata.generateName", "FieldValueInvalid"),
        ("metadata.annotations", "FieldValueTooLong"),
        ("metadata.ownerReferences[1].apiVersion", "FieldValueInvalid"),
        ("metadata.ownerReferences[1].uid", "FieldValueRequired"),
        ("metadata.ownerReferences", "FieldValueInvalid"),
        ("metadata.ownerReferences[2]", "FieldValueInvalid"),
        ("metadata.finalizers", "FieldValueInvalid"),
    ]
