"""The scenarios of `dra-scheduler demo`: an inventory for any number of nodes, pods, and two pods to try afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dra_api.manifests import Document, read_paths
from dra_scheduler.cli.embedded.inventory import attributes, device_class, node, pod, request, slices, template
from dra_scheduler.cli.examples import example_path
from dra_scheduler.cli.loading import Object

SOURCE = "(demo)"
CATS = "resource-driver.example.com"
GPUS = "gpu.example.com"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is created, in this order; `fits` and `too_big` are for the reader to try when that is done.

    `pending`: how many pods are not meant to find devices. `spare`: a pod whose deletion makes room.
    """

    cluster: list[Object]
    pods: list[Object]
    fits: list[Object]
    too_big: list[Object]
    spare: str
    pending: int = 0

    def documents(self) -> list[Document]:
        """Everything to create, as documents."""
        return [Document(obj, SOURCE, obj["apiVersion"], 0) for obj in (*self.cluster, *self.pods)]


def cats(nodes: int, devices: int) -> Scenario:
    """The example of manifests/examples: a pod with two containers, each with a large black cat of its own."""
    colors, sizes = ("white", "ginger", "gray", "black"), ("small", "medium", "small", "large")

    def cat(number: int, i: int) -> Object:
        is_first = 2 * i < devices
        look = attributes(
            model="shorthair" if is_first else "maine-coon",
            color=colors[(number - 1 + i) % 4],
            size=sizes[i % 4] if is_first else "large",
            age=(number + 3 * (i % 4)) % 12 + 1,
        )
        return {"name": f"cat-{i}", "attributes": look, "capacity": {"naps": {"value": str(4 * (1 + i % 3))}}}

    cluster = _cluster(nodes, lambda n: slices(f"node-{n}", CATS, {"devices": [cat(n, i) for i in range(devices)]}))
    example = [document.object for document in read_paths([example_path("cats.yaml")]).documents]
    cluster += [obj for obj in example if obj["kind"] != "Pod"]
    young = f'device.attributes["{CATS}"].age < 4'
    wanted = request("cat", "resource.example.com", young)
    herd = request("cats", "resource.example.com", count=devices + 1)
    return Scenario(
        cluster,
        [obj for obj in example if obj["kind"] == "Pod"],
        [template("young-cat", [wanted]), pod("fits", ["young-cat"])],
        [template("herd", [herd]), pod("too-big", ["herd"])],
        "pod-with-cats",
    )


def gpus(nodes: int, devices: int) -> Scenario:
    """GPUs of two sizes: memory asked for by CEL, two on one NUMA node, the large one or else two small ones."""
    same_numa = {"requests": ["gpus"], "matchAttribute": f"{GPUS}/numa"}
    large, small = f'device.attributes["{GPUS}"].model == "large"', f'device.attributes["{GPUS}"].model == "small"'
    either = [
        {"name": "large", "deviceClassName": GPUS, "selectors": [{"cel": {"expression": large}}]},
        {"name": "two-small", "deviceClassName": GPUS, "selectors": [{"cel": {"expression": small}}], "count": 2},
    ]
    memory = f'device.capacity["{GPUS}"].memory.compareTo(quantity("80Gi")) >= 0'
    templates = [
        template("two-on-one-numa-node", [request("gpus", GPUS, count=2)], [same_numa]),
        template("much-memory", [request("gpu", GPUS, memory)]),
        template("large-or-two-small", [{"name": "gpu", "firstAvailable": either}]),
    ]
    pods = [
        pod("training", ["two-on-one-numa-node"]),
        pod("inference-1", ["much-memory"]),
        pod("inference-2", ["much-memory"]),
        pod("batch", ["large-or-two-small"]),
    ]
    cluster = _cluster(nodes, lambda n: slices(f"node-{n}", GPUS, {"devices": _gpus(devices)}))
    more = request("gpu", GPUS, f'device.capacity["{GPUS}"].memory.compareTo(quantity("100Gi")) > 0')
    return Scenario(
        [*cluster, device_class(GPUS, GPUS), *templates],
        pods,
        [pod("fits", ["two-on-one-numa-node"])],
        [template("huge-memory", [more]), pod("too-big", ["huge-memory"])],
        "training",
    )


def partitions(nodes: int, devices: int) -> Scenario:
    """GPUs that are given out whole, in halves or in quarters, of one memory each (KEP-4815)."""
    parts = (("whole", 1, 80), ("half", 2, 40), ("quarter", 4, 20))

    def partition(gpu: int, name: str, number: int, gib: int) -> Object:
        counters = {"memory": {"value": f"{gib}Gi"}}
        return {
            "name": f"gpu-{gpu}-{name}" + (f"-{number}" if name != "whole" else ""),
            "attributes": attributes(profile=name),
            "capacity": {"memory": {"value": f"{gib}Gi"}},
            "consumesCounters": [{"counterSet": f"gpu-{gpu}", "counters": counters}],
        }

    def pool(number: int) -> list[Object]:
        gpu_sets = [{"name": f"gpu-{gpu}", "counters": {"memory": {"value": "80Gi"}}} for gpu in range(devices)]
        found = [
            partition(gpu, name, i, gib) for gpu in range(devices) for name, count, gib in parts for i in range(count)
        ]
        return slices(f"node-{number}", GPUS, {"sharedCounters": gpu_sets}, {"devices": found})

    wanted = [
        template(name, [request("gpu", GPUS, f'device.attributes["{GPUS}"].profile == "{name}"')])
        for name, _, _ in parts
    ]
    pods = [pod("one-whole", ["whole"]), pod("two-halves", ["half", "half"]), pod("one-quarter", ["quarter"])]
    every = request("gpus", GPUS, f'device.attributes["{GPUS}"].profile == "whole"', count=devices + 1)
    return Scenario(
        [*_cluster(nodes, pool), device_class(GPUS, GPUS), *wanted],
        pods,
        [pod("fits", ["quarter"])],
        [template("more-than-there-are", [every]), pod("too-big", ["more-than-there-are"])],
        "one-whole",
    )


def full(nodes: int, devices: int) -> Scenario:
    """Pods that take a whole node each, one more than there are nodes: the last one waits and says for what."""
    whole_node = template("all-of-a-node", [request("gpus", GPUS, count=devices)])
    pods = [pod(f"worker-{n}", ["all-of-a-node"]) for n in range(1, nodes + 2)]
    cluster = _cluster(nodes, lambda n: slices(f"node-{n}", GPUS, {"devices": _gpus(devices)}))
    return Scenario(
        [*cluster, device_class(GPUS, GPUS), whole_node],
        pods,
        [pod("fits", [])],
        [pod("too-big", ["all-of-a-node"])],
        "worker-1",
        pending=1,
    )


SCENARIOS: dict[str, Callable[[int, int], Scenario]] = {
    "cats": cats,
    "gpus": gpus,
    "partitions": partitions,
    "full": full,
}
LARGEST = {"cats": 31, "gpus": 31, "partitions": 8, "full": 32}
"""How many devices a node may have: what one claim (32 devices) or one slice (64 that draw on counters) can name."""


def _cluster(nodes: int, pool: Callable[[int], Sequence[Object]]) -> list[Object]:
    numbers = range(1, nodes + 1)
    return [*(node(f"node-{n}") for n in numbers), *(part for n in numbers for part in pool(n))]


def _gpus(count: int) -> list[Object]:
    """Every fourth is large; the first half is on one NUMA node, the others on another."""
    found = []
    for i in range(count):
        is_large = i % 4 == 0
        look = attributes(model="large" if is_large else "small", numa=0 if 2 * i < count else 1)
        memory = {"memory": {"value": "80Gi" if is_large else "40Gi"}}
        found.append({"name": f"gpu-{i}", "attributes": look, "capacity": memory})
    return found
