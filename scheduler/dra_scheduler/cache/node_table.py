"""All nodes as arrays: what they have, what is asked of them, where pods may go. A row per node, stable while it lives.

A row also exists for a node that is only known from its pods (`present` is false then): events of pods and of nodes
come on different streams, so a pod may be seen on a node before the node is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dra_scheduler.cache.host_ports import HostPorts
from dra_scheduler.cache.label_columns import BoolArray, IntArray, LabelColumns
from dra_scheduler.cache.node_info import NodeInfo
from dra_scheduler.cache.node_selection import Taint
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cache.requests import PODS

_FIRST_ROWS = 64
NO_PODS = 2**31
"""`lowest_priority` of a node without pods: higher than any priority."""


class NodeTable:
    """Arrays have `rows` entries; rows that are not `present` hold no meaning for filters.

    `static_version` changes when labels, taints, `unschedulable` or declared features do, `version` with every change.
    Amounts: cpu in milli-units, all else in units. `engine_ids` are the allocator's numbers of the nodes.
    `lowest_priority` is that of the pods on the node.
    """

    def __init__(self) -> None:
        self.rows = _FIRST_ROWS
        self.version = 0
        self.static_version = 0
        self.present: BoolArray = np.zeros(self.rows, np.bool_)
        self.unschedulable: BoolArray = np.zeros(self.rows, np.bool_)
        self.taint_class: IntArray = np.zeros(self.rows, np.int64)
        self.engine_ids: NDArray[np.int32] = np.full(self.rows, -1, np.int32)
        self.pod_counts: IntArray = np.zeros(self.rows, np.int64)
        self.scored_cpu: IntArray = np.zeros(self.rows, np.int64)
        self.scored_memory: IntArray = np.zeros(self.rows, np.int64)
        self.lowest_priority: IntArray = np.full(self.rows, NO_PODS, np.int64)
        self.labels = LabelColumns(self.rows)
        self.ports = HostPorts()
        self.taint_classes: list[tuple[Taint, ...]] = [()]
        self.pods: dict[int, dict[str, PodInfo]] = {}
        self._taint_ids: dict[tuple[Taint, ...], int] = {(): 0}
        self._allocatable: dict[str, IntArray] = {}
        self._requested: dict[str, IntArray] = {}
        self._declaring: dict[str, BoolArray] = {}
        self._names: list[str | None] = [None] * self.rows
        self._by_name: dict[str, int] = {}
        self._infos: dict[int, NodeInfo] = {}
        self._free = list(range(self.rows - 1, -1, -1))

    def __len__(self) -> int:
        """Return how many nodes are present."""
        return len(self._infos)

    def row(self, name: str) -> int | None:
        """Return the row of a node that is present."""
        row = self._by_name.get(name)
        return row if row is not None and self.present[row] else None

    def name(self, row: int) -> str:
        """Return the name of the node in `row`."""
        name = self._names[row]
        if name is None:
            raise KeyError(row)
        return name

    def infos(self) -> Iterator[tuple[int, NodeInfo]]:
        """Return the nodes that are present, with their rows."""
        return iter(self._infos.items())

    def info(self, name: str) -> NodeInfo | None:
        """Return the node as last set."""
        row = self._by_name.get(name)
        return None if row is None else self._infos.get(row)

    def allocatable(self, resource: str) -> IntArray:
        """Return what each node has of a resource; zeros for one that nobody has."""
        array = self._allocatable.get(resource)
        if array is None:
            array = self._allocatable[resource] = np.zeros(self.rows, np.int64)
            for row, info in self._infos.items():
                array[row] = info.allocatable.get(resource, 0)
        return array

    def requested(self, resource: str) -> IntArray:
        """Return what the pods on each node ask of a resource."""
        array = self._requested.get(resource)
        if array is None:
            array = self._requested[resource] = np.zeros(self.rows, np.int64)
            for row, pods in self.pods.items():
                array[row] = sum(pod.requests.get(resource, 0) for pod in pods.values())
        return array

    def declaring(self, feature: str) -> BoolArray:
        """Which nodes declare a feature (`status.declaredFeatures`)."""
        array = self._declaring.get(feature)
        if array is None:
            array = self._declaring[feature] = np.zeros(self.rows, np.bool_)
            array[[row for row, info in self._infos.items() if feature in info.declared_features]] = True
        return array

    def set_node(self, info: NodeInfo, engine_id: int) -> None:
        """Add a node or replace what is known of it."""
        row = self._row_for(info.name)
        before = self._infos.get(row)
        self._infos[row] = info
        self.version += 1
        for resource, array in self._allocatable.items():
            array[row] = info.allocatable.get(resource, 0)
        self.engine_ids[row] = engine_id
        if before is not None and _static(before) == _static(info):
            return
        self.static_version += 1
        self.present[row] = True
        self.unschedulable[row] = info.unschedulable
        self.taint_class[row] = self._taint_class(info.taints)
        for feature, declaring in self._declaring.items():
            declaring[row] = feature in info.declared_features
        self.labels.set_row(row, info.name, info.labels)

    def remove_node(self, name: str) -> None:
        """Take a node out; its pods stay known until they are removed themselves."""
        row = self._by_name.get(name)
        if row is None or row not in self._infos:
            return
        del self._infos[row]
        self.version += 1
        self.static_version += 1
        self.present[row] = False
        self.engine_ids[row] = -1
        self.labels.set_row(row, name, None)
        for array in self._allocatable.values():
            array[row] = 0
        for declaring in self._declaring.values():
            declaring[row] = False
        self._release(row)

    def add_pod(self, node: str, pod: PodInfo) -> None:
        """Count a pod on a node."""
        row = self._row_for(node)
        self.pods.setdefault(row, {})[pod.uid] = pod
        self._count(row, pod, 1)
        self.lowest_priority[row] = min(int(self.lowest_priority[row]), pod.priority)
        self.ports.add(row, pod.ports)

    def remove_pod(self, node: str, pod: PodInfo) -> None:
        """The exact inverse of `add_pod`."""
        row = self._by_name[node]
        del self.pods[row][pod.uid]
        if pod.priority == self.lowest_priority[row]:
            rest = (other.priority for other in self.pods[row].values())
            self.lowest_priority[row] = min(rest, default=NO_PODS)
        if not self.pods[row]:
            del self.pods[row]
        self._count(row, pod, -1)
        self.ports.remove(row, pod.ports)
        self._release(row)

    def fits_pod_count(self) -> BoolArray:
        """Which nodes have room for one more pod by number."""
        return self.pod_counts + 1 <= self.allocatable(PODS)

    def has_room(self, row: int) -> bool:
        """Whether a node has room for one more pod by number."""
        return bool(self.pod_counts[row] < self.allocatable(PODS)[row])

    def _count(self, row: int, pod: PodInfo, sign: int) -> None:
        self.version += 1
        self.pod_counts[row] += sign
        self.scored_cpu[row] += sign * pod.scored_cpu
        self.scored_memory[row] += sign * pod.scored_memory
        for resource, value in pod.requests.items():
            array = self._requested.get(resource)
            if array is not None:
                array[row] += sign * value

    def _taint_class(self, taints: tuple[Taint, ...]) -> int:
        number = self._taint_ids.get(taints)
        if number is None:
            number = self._taint_ids[taints] = len(self.taint_classes)
            self.taint_classes.append(taints)
        return number

    def _row_for(self, name: str) -> int:
        row = self._by_name.get(name)
        if row is None:
            if not self._free:
                self._grow()
            row = self._by_name[name] = self._free.pop()
            self._names[row] = name
        return row

    def _release(self, row: int) -> None:
        if row in self._infos or row in self.pods:
            return
        name = self._names[row]
        if name is not None:
            del self._by_name[name]
            self._names[row] = None
            self._free.append(row)

    def _grow(self) -> None:
        more = self.rows
        self._free.extend(range(self.rows + more - 1, self.rows - 1, -1))
        self._names.extend([None] * more)
        self.rows += more
        self.present = np.concatenate([self.present, np.zeros(more, np.bool_)])
        self.unschedulable = np.concatenate([self.unschedulable, np.zeros(more, np.bool_)])
        self.engine_ids = np.concatenate([self.engine_ids, np.full(more, -1, np.int32)])
        self.lowest_priority = np.concatenate([self.lowest_priority, np.full(more, NO_PODS, np.int64)])
        self.taint_class = _longer(self.taint_class, more)
        self.pod_counts = _longer(self.pod_counts, more)
        self.scored_cpu = _longer(self.scored_cpu, more)
        self.scored_memory = _longer(self.scored_memory, more)
        _grow_all(self._allocatable, more)
        _grow_all(self._requested, more)
        for feature, declaring in self._declaring.items():
            self._declaring[feature] = np.concatenate([declaring, np.zeros(more, np.bool_)])
        self.labels.grow(self.rows)
        self.static_version += 1


def _static(info: NodeInfo) -> tuple[object, ...]:
    return info.labels, info.taints, info.unschedulable, info.declared_features


def _longer(array: IntArray, more: int) -> IntArray:
    return np.concatenate([array, np.zeros(more, np.int64)])


def _grow_all(arrays: dict[str, IntArray], more: int) -> None:
    for name, array in arrays.items():
        arrays[name] = _longer(array, more)
