"""What requests have in common that can have the same devices: counts are kept per signature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dra_allocator.claim import DeviceRequest, Toleration
from dra_cel.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Signature:
    """All that decides which devices a request can have: equal requests share their counts.

    It is looked up many times in every decision, so it keeps its hash.
    """

    selectors: tuple[str, ...]
    tolerations: tuple[Toleration, ...]
    admin: bool
    capacity: tuple[tuple[str, Quantity], ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.selectors, self.tolerations, self.admin, self.capacity)))

    def __hash__(self) -> int:
        return self._hash

    @classmethod
    def of(cls, spec: DeviceRequest, texts: Iterable[str]) -> Signature:
        """Return the signature of a request with the selectors of its class and its own."""
        capacity = tuple(sorted(spec.capacity.items())) if spec.capacity else ()
        return cls(tuple(texts), spec.tolerations, bool(spec.admin_access), capacity)
