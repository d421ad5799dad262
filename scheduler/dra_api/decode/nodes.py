"""Nodes, node selectors and the node scope of slices and devices (core/v1)."""

from __future__ import annotations

import re
from typing import get_args

from dra_allocator.device import NodeScope
from dra_allocator.node import (
    Node,
    NodeSelector,
    NodeSelectorOperator,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from dra_api.decode.fields import (
    Raw,
    boolean,
    decoded,
    items,
    mapping,
    optional_mapping,
    optional_text,
    string_map,
    text,
    texts,
    wrong_type,
)
from dra_api.errors import DecodeError
from dra_api.names import label_value_problems, qualified_name_problems

_OPERATORS: tuple[NodeSelectorOperator, ...] = get_args(NodeSelectorOperator)
_INTEGER = re.compile(r"[+-]?[0-9]+")


def node(obj: object) -> Node:
    """Return what the allocator knows of a Node. Raises DecodeError."""
    return decoded("Node", obj, _node)


def _node(obj: Raw) -> Node:
    metadata = mapping(obj, "metadata")
    try:
        labels = string_map(metadata, "labels")
        name = text(metadata, "name")
    except DecodeError as error:
        raise error.within("metadata") from error
    try:
        features = texts(mapping(obj, "status"), "declaredFeatures")
    except DecodeError as error:
        raise error.within("status") from error
    return Node(name=name, labels=labels, declared_features=frozenset(features))


def node_selector(obj: object, field: str) -> NodeSelector:
    """Return a node selector, refused as Kubernetes refuses it when it parses one.

    `field` is where it stands, for the error. Raises DecodeError for wrong types, unknown operators and values that do
    not go with the operator. An empty term is kept: it matches nothing.
    """
    if not isinstance(obj, dict):
        raise wrong_type(field, "an object", obj)
    try:
        return NodeSelector(items(obj, "nodeSelectorTerms", _term))
    except DecodeError as error:
        raise error.within(field) from error


def _term(obj: Raw) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=items(obj, "matchExpressions", _expression),
        match_fields=items(obj, "matchFields", _field),
    )


def _requirement(obj: Raw) -> NodeSelectorRequirement:
    operator = text(obj, "operator")
    if operator not in _OPERATORS:
        raise DecodeError("operator", f"{operator!r} is not supported", f"use one of {', '.join(_OPERATORS)}")
    return NodeSelectorRequirement(text(obj, "key"), operator, texts(obj, "values"))


def _expression(obj: Raw) -> NodeSelectorRequirement:
    requirement = _requirement(obj)
    operator, values = requirement.operator, requirement.values
    if problems := qualified_name_problems(requirement.key):
        raise DecodeError("key", f"{requirement.key!r} is not a label key: {problems[0]}")
    if operator in ("In", "NotIn") and not values:
        raise DecodeError("values", f"must not be empty with operator {operator}")
    if operator in ("Exists", "DoesNotExist") and values:
        raise DecodeError("values", f"must be empty with operator {operator}")
    if operator in ("Gt", "Lt") and (len(values) != 1 or not _INTEGER.fullmatch(values[0])):
        raise DecodeError("values", f"must be exactly one integer with operator {operator}")
    for i, value in enumerate(values):
        if problems := label_value_problems(value):
            raise DecodeError(f"values[{i}]", f"{value!r} is not a label value: {problems[0]}")
    return requirement


def _field(obj: Raw) -> NodeSelectorRequirement:
    requirement = _requirement(obj)
    if requirement.operator not in ("In", "NotIn"):
        raise DecodeError("operator", f"{requirement.operator!r} is not supported for fields", "use In or NotIn")
    if len(requirement.values) != 1:
        raise DecodeError("values", "must have exactly one element for fields")
    return requirement


def node_scope(obj: Raw) -> NodeScope:
    """Return the node scope of a slice's spec or of a device: `nodeName`, `nodeSelector` or `allNodes`.

    v1beta1's empty `nodeName` and false `allNodes` count as absent. What cannot be used is kept as `invalid`, so that
    it takes out its slice or device and nothing else. Raises DecodeError only for wrong types of the three fields.
    """
    name = optional_text(obj, "nodeName") or None
    everywhere = boolean(obj, "allNodes")
    selector = optional_mapping(obj, "nodeSelector")
    count = (name is not None) + everywhere + (selector is not None)
    if count != 1:
        return NodeScope(invalid=f"exactly one of nodeName, nodeSelector and allNodes must be set, but {count} are")
    if selector is None:
        return NodeScope(node_name=name, all_nodes=everywhere)
    try:
        parsed = node_selector(selector, "nodeSelector")
    except DecodeError as error:
        return NodeScope(invalid=str(error))
    if len(parsed.terms) > 1:
        # Allocations intersect the terms of their devices, which Kubernetes defines for one term only.
        return NodeScope(invalid=f"nodeSelector: must have exactly one term, not {len(parsed.terms)}")
    return NodeScope(selector=parsed)
