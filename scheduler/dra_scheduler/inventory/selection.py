"""Which devices of the list are wanted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from dra_allocator.node import Node
from dra_allocator.node_selector import matches
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.errors import SchedulerError
from dra_scheduler.inventory.devices import Listed
from dra_scheduler.report.phrases import some_of


class UnknownNameError(SchedulerError):
    """Something that was asked for by name is not there: whoever asked corrects the name."""


def select(
    cluster: Cluster, listed: Iterable[Listed], *, driver: str = "", device_class: str = "", node: str = ""
) -> list[Listed]:
    """Return the devices of a driver, of a class, and that a node sees; an empty name selects all.

    Raises UnknownNameError for a class or a node that is not there, and for a driver without devices.
    """
    listed = list(listed)
    drivers = {one.id.driver for one in listed}
    if driver and driver not in drivers:
        raise UnknownNameError(_unknown("device of driver", driver, drivers))
    if device_class and device_class not in cluster.devices.classes:
        raise UnknownNameError(_unknown("DeviceClass", device_class, cluster.devices.classes))
    seen_by = None
    if node:
        node_id = cluster.devices.node_id(node)
        seen_by = None if node_id is None else cluster.devices.nodes[node_id]
        if seen_by is None:
            raise UnknownNameError(_unknown("Node", node, (info.name for _, info in cluster.nodes.infos())))
    return [
        one
        for one in listed
        if driver in ("", one.id.driver)
        and (not device_class or device_class in one.classes)
        and (seen_by is None or sees(seen_by, one))
    ]


def sees(node: Node, listed: Listed) -> bool:
    """Whether a node is in the scope of a device."""
    scope = listed.scope
    if scope is None or scope.invalid is not None:
        return False
    if scope.node_name is not None:
        return scope.node_name == node.name
    return scope.all_nodes or (scope.selector is not None and matches(scope.selector, node))


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1)
    some = f"; there {'are' if len(names) > 1 else 'is'} {some_of(names)}" if names else ""
    return f"there is no {kind} {name!r}" + (f"; did you mean {near[0]!r}?" if near else some)
