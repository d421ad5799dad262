"""The state of one evaluation, and the functions that expressions are compiled to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_cel.device import DeviceFields
from dra_cel.errors import CostLimitExceeded
from dra_cel.slices import rest
from dra_cel.values import EMPTY_MAP, MISSING, CelMap

COST_LIMIT = 1_000_000
"""resource.k8s.io CELSelectorExpressionMaxCost: the same for the static estimate and at run time."""
_STRIDE = 200
"""Cost between two rests: 0.01 to 1 millisecond."""


class Frame:
    """One evaluation for one device.

    Attributes:
        device: what is evaluated.
        cost: what was spent so far.
        limit: what may be spent.
        locals: variables of macros, by slot; MISSING: a `cel.bind` variable that nobody has used yet.

    """

    __slots__ = ("_attributes", "_capacity", "_next", "cost", "device", "limit", "locals")

    def __init__(self, device: DeviceFields, slots: int, limit: int = COST_LIMIT) -> None:
        self.device = device
        self.cost = 0
        self.limit = limit
        self._next = min(limit, _STRIDE)  # one comparison serves the limit and the rests
        self.locals: list[Any] = [MISSING] * slots
        self._attributes: CelMap | None = None
        self._capacity: CelMap | None = None

    def attributes(self) -> CelMap:
        """Return `device.attributes` as a map of maps."""
        if self._attributes is None:
            self._attributes = _by_domain(self.device.attributes)
        return self._attributes

    def capacity(self) -> CelMap:
        """Return `device.capacity` as a map of maps."""
        if self._capacity is None:
            self._capacity = _by_domain(self.device.capacity)
        return self._capacity

    def object(self) -> CelMap:
        """Return `device` itself as a map."""
        return CelMap.of_strings(
            {
                "driver": self.device.driver,
                "allowMultipleAllocations": self.device.allow_multiple_allocations,
                "attributes": self.attributes(),
                "capacity": self.capacity(),
            }
        )

    def check_cost(self) -> None:
        """Raise CostLimitExceeded if the limit is passed; have a rest now and then."""
        if self.cost > self._next:
            self._passed()

    def _passed(self) -> None:
        if self.cost > self.limit:
            raise CostLimitExceeded(f"operation cancelled: actual cost limit exceeded ({self.limit})")
        self._next = min(self.limit, self.cost + _STRIDE)
        rest()


def _by_domain(values: Mapping[str, Any]) -> CelMap:
    """Group by domain; the lookup of an unknown domain yields an empty map."""
    grouped: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        domain, _, id_ = name.partition("/")
        grouped.setdefault(domain, {})[id_] = value
    return CelMap.of_strings({domain: CelMap.of_strings(items) for domain, items in grouped.items()}, EMPTY_MAP)


Step = Callable[[Frame], Any]
"""A compiled expression: evaluates itself in a frame, adding its cost."""
