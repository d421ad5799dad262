"""Nodes that went between a pod's decision and its binding.

The API server binds to a node that does not exist, and the pod is then deleted for that. kube-scheduler lets it happen;
with a wait of minutes for devices in between it is not rare.
"""

from __future__ import annotations

from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.errors import SchedulerError


class NodeGoneError(SchedulerError):
    """The node that the pod was to go to has been deleted: the pod has to go elsewhere. Nobody has to do anything."""

    def __init__(self, node: str) -> None:
        super().__init__(f"node {node} has been deleted meanwhile")


def check_node(cluster: Cluster, node: str) -> None:
    """Raise NodeGoneError if there is no such node any more."""
    if cluster.nodes.row(node) is None:
        raise NodeGoneError(node)
