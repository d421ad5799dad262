"""Who sees what: nodes by small ids, and the scopes that several nodes share.

Each row of the table has a *home*, one int32:

    home >= 0    local to the node with this id
    home == -1   seen by no node (its node is not known, its scope is absent or cannot be parsed)
    home <= -2   shared: scope number -2 - home, a node selector or all nodes

A selector is evaluated once per distinct selector and node, when either appears or the node's labels change.
"""

from __future__ import annotations

import numpy as np

from dra_allocator.arrays import BoolArray, grown
from dra_allocator.device import NodeScope
from dra_allocator.node import Node
from dra_allocator.node_selector import matches

NOWHERE = -1


class Nodes:
    """Nodes by id. An id is used again only after its node has been removed; `arrivals` counts the nodes that came."""

    def __init__(self) -> None:
        self.arrivals = 0
        self._arrival: list[int] = []
        self._ids: dict[str, int] = {}
        self._nodes: list[Node | None] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        """Return the number of id slots, free ones included."""
        return len(self._nodes)

    def id(self, name: str) -> int | None:
        """Return the id of a known node."""
        return self._ids.get(name)

    def __getitem__(self, node_id: int) -> Node | None:
        return self._nodes[node_id] if 0 <= node_id < len(self._nodes) else None

    def items(self) -> list[tuple[int, Node]]:
        """Return all known nodes with their ids."""
        return [(node_id, node) for node_id, node in enumerate(self._nodes) if node is not None]

    def present(self) -> BoolArray:
        """Return per id whether it is in use."""
        mask: BoolArray = np.ones(len(self._nodes), np.bool_)
        mask[self._free] = False
        return mask

    def since(self, node_id: int, arrivals: int) -> Node | None:
        """Return the node with an id if it is there since `arrivals` was so high: else the id is another node's."""
        node = self[node_id]
        return node if node is not None and self._arrival[node_id] <= arrivals else None

    def put(self, node: Node) -> int:
        """Add or replace a node; return its id."""
        node_id = self._ids.get(node.name)
        if node_id is None:
            node_id = self._free.pop() if self._free else len(self._nodes)
            if node_id == len(self._nodes):
                self._nodes.append(None)
                self._arrival.append(0)
            self._ids[node.name] = node_id
            self.arrivals += 1
            self._arrival[node_id] = self.arrivals
        self._nodes[node_id] = node
        return node_id

    def remove(self, name: str) -> int | None:
        """Remove a node; return the id that it had."""
        node_id = self._ids.pop(name, None)
        if node_id is not None:
            self._nodes[node_id] = None
            self._free.append(node_id)
        return node_id


class Scopes:
    """The distinct shared scopes with the nodes that each one includes."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._ids: dict[NodeScope, int] = {}
        self._scopes: list[NodeScope | None] = []
        self._masks: list[BoolArray] = []
        self._uses: list[int] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._scopes)

    def acquire(self, scope: NodeScope) -> int:
        """Return the number of a scope with a selector or all nodes, adding it if it is new."""
        number = self._ids.get(scope)
        if number is None:
            number = self._ids[scope] = self._insert(scope)
            for node_id, node in self._nodes.items():
                self._set(number, node_id, node)
        self._uses[number] += 1
        return number

    def release(self, number: int) -> None:
        """Undo one `acquire`."""
        self._uses[number] -= 1
        scope = self._scopes[number]
        if self._uses[number] == 0 and scope is not None:
            del self._ids[scope]
            self._scopes[number] = None
            self._masks[number][:] = False
            self._free.append(number)

    def update_node(self, node_id: int, node: Node | None) -> bool:
        """Evaluate all scopes for a node that has changed or gone; return whether any answer is new."""
        changed = False
        for number, scope in enumerate(self._scopes):
            if scope is not None:
                changed |= self._set(number, node_id, node)
        return changed

    def mask(self, number: int, size: int) -> BoolArray:
        """Return for the node ids below `size` whether the scope includes them."""
        self._masks[number] = grown(self._masks[number], size)
        return self._masks[number][:size]

    def of_node(self, node_id: int) -> list[int]:
        """Return the numbers of the scopes that include the node."""
        return [number for number, mask in enumerate(self._masks) if node_id < len(mask) and mask[node_id]]

    def includes(self, number: int, node_id: int) -> bool:
        """Return whether the scope includes the node."""
        mask = self._masks[number]
        return node_id < len(mask) and bool(mask[node_id])

    def _insert(self, scope: NodeScope) -> int:
        if self._free:
            number = self._free.pop()
            self._scopes[number] = scope
            return number
        self._scopes.append(scope)
        self._masks.append(np.zeros(max(len(self._nodes), 64), np.bool_))
        self._uses.append(0)
        return len(self._scopes) - 1

    def _set(self, number: int, node_id: int, node: Node | None) -> bool:
        scope = self._scopes[number]
        included = node is not None and scope is not None and _includes(scope, node)
        self._masks[number] = grown(self._masks[number], node_id + 1)
        changed = bool(self._masks[number][node_id]) != included
        self._masks[number][node_id] = included
        return changed


def _includes(scope: NodeScope, node: Node) -> bool:
    return scope.all_nodes or (scope.selector is not None and matches(scope.selector, node))


def home_of_scope(number: int) -> int:
    """Return the home of rows in this shared scope."""
    return -2 - number


def scope_of_home(home: int) -> int:
    """Return the number of the shared scope of a home <= -2."""
    return -2 - home
