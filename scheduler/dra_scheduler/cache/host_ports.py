"""Ports of nodes in use. 0.0.0.0 stands for every address of the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dra_scheduler.cache.pod_info import ANY_ADDRESS, HostPort


class HostPorts:
    """Which rows of the node table have which ports in use, by how many pods."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, int], dict[int, Counter[str]]] = {}

    def add(self, row: int, ports: Iterable[HostPort]) -> None:
        """A pod with these ports is on the node of `row`."""
        for port in ports:
            by_row = self._used.setdefault((port.protocol, port.port), {})
            by_row.setdefault(row, Counter())[port.ip] += 1

    def remove(self, row: int, ports: Iterable[HostPort]) -> None:
        """The exact inverse of `add`."""
        for port in ports:
            key = (port.protocol, port.port)
            addresses = self._used[key][row]
            addresses[port.ip] -= 1
            if addresses[port.ip] <= 0:
                del addresses[port.ip]
            if not addresses:
                del self._used[key][row]
            if not self._used[key]:
                del self._used[key]

    def conflicts(self, ports: Iterable[HostPort]) -> set[int]:
        """Return the rows on which at least one of the ports is not free."""
        rows: set[int] = set()
        for port in ports:
            for row, addresses in self._used.get((port.protocol, port.port), {}).items():
                if port.ip == ANY_ADDRESS or ANY_ADDRESS in addresses or port.ip in addresses:
                    rows.add(row)
        return rows
