"""Slices that no node sees."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from dra_allocator.device import NodeScope
from dra_allocator.node import Node
from dra_allocator.node_selector import matches
from dra_api import decode
from dra_api.errors import DecodeError
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs
from dra_scheduler.lint.published import SliceSource


def _nodes(inputs: Inputs) -> list[Node]:
    found = []
    for document in inputs.of_kind("Node"):
        try:
            found.append(decode.node(document.object))
        except DecodeError:
            found.append(Node(document.key.name))
    return found


def _without_node(inputs: Inputs) -> Iterator[Fault]:
    if not inputs.knows("Node") or any(name[0] == "Node" for name in inputs.scope.unread):
        return
    nodes = inputs.shared(_nodes)
    names = {node.name for node in nodes}
    for slices in inputs.published.slices.values():
        for source in slices:
            for field, scope in _scopes(source):
                if not _is_seen(scope, nodes, names):
                    yield Fault(source.document, field, *_text(scope, nodes))


def _scopes(source: SliceSource) -> Iterator[tuple[str, NodeScope]]:
    if source.slice.scope is not None:
        yield f"spec.{_member(source.slice.scope)}", source.slice.scope
    for i, device in enumerate(source.slice.devices):
        if device.scope is not None:
            yield f"spec.devices[{i}].{_member(device.scope)}", device.scope


def _member(scope: NodeScope) -> str:
    return "nodeName" if scope.node_name else "nodeSelector"


def _is_seen(scope: NodeScope, nodes: list[Node], names: set[str]) -> bool:
    if scope.node_name:
        return scope.node_name in names
    return scope.selector is None or any(matches(scope.selector, node) for node in nodes)


def _text(scope: NodeScope, nodes: list[Node]) -> tuple[str, str]:
    if not scope.node_name:
        return "matches no node", "compare it with the labels of the nodes"
    near = difflib.get_close_matches(scope.node_name, [node.name for node in nodes], 1)
    return f"there is no node {scope.node_name!r}", f"did you mean {near[0]}?" if near else ""


RULES = (Rule("slice-without-node", "warning", "a slice or device is for a node that is not there", _without_node),)
