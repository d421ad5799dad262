"""A Cluster fed by hand, without an API server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable

from dra_allocator.allocator import Allocator
from dra_allocator.features import Features
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.cycle import Cycle
from dra_scheduler.cycle.decision import Bind, Reject
from dra_scheduler.settings import Settings
from support.fake_clock import FakeClock
from support.objects import Raw, make_class, make_node, make_slice


def known_cluster(nodes: Iterable[Raw] = (), devices: int = 0) -> Cluster:
    """A cluster with these nodes, the class `gpu`, and `devices` devices on each node."""
    cluster = Cluster(Features())
    cluster.apply_class(None, make_class())
    for node in nodes:
        cluster.apply_node(None, node)
        if devices:
            cluster.apply_slice(None, make_slice(node["metadata"]["name"], devices))
    return cluster


def some_nodes(count: int) -> list[Raw]:
    return [make_node(f"n{i}") for i in range(count)]


def make_cycle(cluster: Cluster, clock: FakeClock | None = None, allocator: object = None) -> Cycle:
    shares = iter(range(1000))
    real = Allocator(share_ids=lambda: f"00000000-0000-4000-8000-{next(shares):012}")
    chosen = allocator or real
    return Cycle(cluster, chosen, Settings(), clock or FakeClock(), random.Random(0))  # type: ignore[arg-type]


def known_pod(cluster: Cluster, raw: Raw) -> PodInfo:
    """Let the cluster see the pod."""
    cluster.apply_pod(None, raw)
    pod = cluster.pods.get(raw["metadata"]["uid"])
    assert pod is not None
    return pod


def decide(cluster: Cluster, raw: Raw, cycle: Cycle | None = None) -> Bind | Reject | None:
    """Let the cluster see the pod, and decide it."""
    return asyncio.run((cycle or make_cycle(cluster)).decide(known_pod(cluster, raw)))


def bound(cluster: Cluster, raw: Raw) -> Bind:
    """The same, for a pod that is to find a node."""
    decision = decide(cluster, raw)
    assert isinstance(decision, Bind), decision
    return decision


def rejected(cluster: Cluster, raw: Raw) -> Reject:
    """The same, for a pod that is to find none."""
    decision = decide(cluster, raw)
    assert isinstance(decision, Reject), decision
    return decision
