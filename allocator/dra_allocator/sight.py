"""Which of the asked nodes see which rows: counting devices per node, for explanations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dra_allocator.arrays import BoolArray, IntArray
from dra_allocator.sums import Longs
from dra_allocator.view import View
from dra_allocator.visibility import NOWHERE, scope_of_home


class Sight:
    """Nodes that were asked, as a mask over node ids, and the rows that they see.

    Attributes:
        asked: per node id.
        rows: per row whether one of the nodes is in its scope.

    """

    def __init__(self, view: View, nodes: Sequence[str] | IntArray) -> None:
        table = view.table
        self._table = table
        self._homes = table.rows.homes
        self.asked: BoolArray = np.zeros(len(table.nodes), np.bool_)
        if isinstance(nodes, np.ndarray):
            self.asked[nodes] = True
            self.asked &= table.nodes.present()
        else:
            self.asked[[node_id for node_id in map(table.node_id, nodes) if node_id is not None]] = True
        self.rows: BoolArray = self._seen()

    def _seen(self) -> BoolArray:
        homes = self._homes
        # Rows that no node sees have the last place, which is never asked.
        local: BoolArray = np.append(self.asked, False)[np.where(homes >= 0, homes, len(self.asked))]
        for number in range(len(self._table.scopes)):
            if (self._table.scopes.mask(number, len(self.asked)) & self.asked).any():
                local |= homes == -2 - number
        return local

    def per_node(self, rows: BoolArray) -> Longs:
        """Return per node id how many of the rows it sees."""
        homes = self._homes[rows]
        size = len(self.asked)
        counts: Longs = np.bincount(homes[homes >= 0], minlength=size).astype(np.int64)
        shared = homes[homes < NOWHERE]
        if len(shared):
            for number, count in enumerate(np.bincount(-2 - shared).tolist()):
                if count:
                    counts += count * self._table.scopes.mask(number, size)
        return counts

    def nodes_with(self, rows: BoolArray) -> int:
        """Return how many of the asked nodes see one of the rows."""
        return int(np.count_nonzero(self.asked & (self.per_node(rows) > 0)))

    def of_node(self, node_id: int) -> BoolArray:
        """Return the rows that one node sees."""
        seen: BoolArray = self._homes == node_id
        for home in np.unique(self._homes[self._homes < NOWHERE]).tolist():
            if self._table.scopes.includes(scope_of_home(home), node_id):
                seen |= self._homes == home
        return seen

    def name(self, node_id: int) -> str:
        """Return the name of an asked node."""
        return self._table.node_name(node_id)
