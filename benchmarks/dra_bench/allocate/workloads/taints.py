"""taints: two thirds of the devices are tainted, one kind of taint by rules; the claim tolerates a third kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dra_bench.allocate import objects
from dra_bench.allocate.scenario import Scenario, Size, Workload
from dra_bench.allocate.workloads import plain

JSON = dict[str, Any]
_FULL = {"key": "example.com/maintenance", "value": "yes", "effect": "NoSchedule"}
_SOFT = {"key": "example.com/dedicated", "value": "ml", "effect": "NoSchedule"}
_RULED = {"key": "example.com/broken", "effect": "NoExecute"}
_RULED_DEVICE = "gpu-1"


def _slices(devices: int, ruled: bool, number: int) -> Sequence[JSON]:
    found = []
    for index in range(devices):
        taints = [taint for taint, every in ((_FULL, 3), (_SOFT, 2)) if (index + number) % every == 0]
        if ruled and index == 1:
            taints.append(_RULED)
        found.append(objects.gpu(index, model=number % 4, **({"taints": taints} if taints else {})))
    return [objects.resource_slice(number, found)]


def _taints(size: Size) -> Scenario:
    tolerations = [{"key": "example.com/dedicated", "operator": "Exists", "effect": "NoSchedule"}]
    selector = {"driver": objects.DRIVER, "device": _RULED_DEVICE}
    rule = {"metadata": {"name": "broken"}, "spec": {"deviceSelector": selector, "taint": _RULED}}
    return Scenario(
        size,
        partial(_slices, size.devices, False),
        (objects.claim(objects.request(tolerations=tolerations)),),
        plain.half_held(size),
        rules=(rule,),
        ruled_slices=partial(_slices, size.devices, True),
    )


WORKLOADS = (Workload("taints", "a device without taints that are not tolerated, half full", _taints),)
