"""Nodes with GPUs of four models, half of them held: the cluster that most workloads ask something of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Hold, Scenario, Size

JSON = dict[str, Any]
SEED = 20260131


def slices(devices: int, number: int) -> Sequence[JSON]:
    """Return the slices of a node: its devices have one model, 128 at most in a slice."""
    model = number % len(objects.MODELS)
    found = [objects.gpu(index, model=model) for index in range(devices)]
    parts = [found[start : start + 128] for start in range(0, len(found), 128)] or [[]]
    return [objects.resource_slice(number, one, part=at, parts=len(parts)) for at, one in enumerate(parts)]


def half_held(size: Size) -> tuple[tuple[Hold, ...], ...]:
    """Return a random half of all devices, each held by a claim of its own."""
    everything = [(node, device) for node in range(size.nodes) for device in range(size.devices)]
    chosen = Random(SEED).sample(everything, len(everything) // 2)
    return tuple((Hold(node, f"gpu-{device}"),) for node, device in chosen)


def half_full(size: Size, *claims: JSON, **more: Any) -> Scenario:
    """Return the scenario in which these claims are asked of the half full cluster."""
    return Scenario(size, partial(slices, size.devices), claims, half_held(size), **more)
