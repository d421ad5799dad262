"""What a workload is: a cluster, who holds what at first, the claim that comes again and again, what then happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from dra_bench.allocate import objects

JSON = dict[str, Any]

Turnover = Literal["fill", "random", "window", "none"]
"""What becomes of the claims: `fill` they stay until nothing fits, then all are gone; `random` after each decision a
random claim is gone, so that as much is held as at first; `window` each is gone some decisions later; `none` nothing
fits anyway."""


class Size(NamedTuple):
    """So many nodes with so many devices each."""

    nodes: int
    devices: int


class Hold(NamedTuple):
    """A device that a claim holds: the number of its node, its name, and for a share its UID and what it consumes."""

    node: int
    device: str
    share: str | None = None
    consumed: Mapping[str, str] = {}

    def entry(self) -> JSON:
        """Return it in the form of an allocation's results."""
        found: JSON = {"request": "gpu", "driver": objects.DRIVER, "pool": objects.node_name(self.node)}
        found["device"] = self.device
        if self.share is not None:
            found |= {"shareID": self.share, "consumedCapacity": dict(self.consumed)}
        return found


@dataclass(frozen=True, slots=True)
class Scenario:
    """A workload of a certain size.

    Attributes:
        slices: the slices of a node, by its number.
        claims: the claims of one pod, as JSON; decided together.
        holds: who holds what at first, one entry per claim.
        turnover: see `Turnover`.
        window: how many decisions later claims are gone with turnover `window`.
        fits: whether the claims fit; at `fill`: at first.
        explained: whether a decision includes the explanation.
        rules: DeviceTaintRules.
        ruled_slices: the slices with the taints of the rules on their devices, which is how Kubernetes' allocator gets
            them; None: there are no rules.
    """

    size: Size
    slices: Callable[[int], Sequence[JSON]]
    claims: tuple[JSON, ...]
    holds: tuple[tuple[Hold, ...], ...] = ()
    turnover: Turnover = "window"
    window: int = 8
    fits: bool = True
    explained: bool = False
    classes: tuple[JSON, ...] = field(default_factory=lambda: (objects.device_class(),))
    rules: tuple[JSON, ...] = ()
    ruled_slices: Callable[[int], Sequence[JSON]] | None = None

    def all_slices(self) -> Iterator[JSON]:
        """Yield the slices of all nodes, made one by one: they are never all in memory."""
        for number in range(self.size.nodes):
            yield from self.slices(number)


@dataclass(frozen=True, slots=True)
class Workload:
    """A named way to make a scenario. `devices` per node and `nodes` are defaults; `fixed` ones cannot be changed."""

    name: str
    summary: str
    make: Callable[[Size], Scenario]
    nodes: int = 5000
    devices: int = 8
    fixed_devices: bool = False

    def scenario(self, nodes: int | None = None, devices: int | None = None) -> Scenario:
        """Return the scenario of a size, or of the default size."""
        wanted = self.devices if devices is None or self.fixed_devices else devices
        return self.make(Size(self.nodes if nodes is None else nodes, wanted))
