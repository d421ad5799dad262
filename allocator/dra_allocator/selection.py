"""The selectors of a request, its class's included; made once for requests that are alike, as those of a template."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dra_allocator.claim import DeviceClass, DeviceRequest
from dra_allocator.signature import Signature
from dra_allocator.table import Table

_KEPT = 512


@dataclass(frozen=True, slots=True)
class ClaimSelector:
    """A selector text and where it is from: the class, or the claim's request; `index` counts there."""

    text: str
    index: int
    of_class: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """A request's selectors, the class's first, and its signature."""

    selectors: tuple[ClaimSelector, ...]
    signature: Signature
    device_class: DeviceClass


class Selections:
    """The latest selections made for a table."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Selection] = {}

    @classmethod
    def of_table(cls, table: Table) -> Selections:
        """Return the table's instance."""
        found = table.derived.get(cls)
        if not isinstance(found, Selections):
            found = table.derived[cls] = cls()
        return found

    def of(self, spec: DeviceRequest, device_class: DeviceClass) -> Selection:
        """Return the selection of a request (not of a list of alternatives) and its class."""
        amounts = tuple(spec.capacity.items()) if spec.capacity else ()
        key = device_class.name, spec.selectors, spec.tolerations, spec.admin_access, amounts
        known = self._known.get(key)
        if known is not None and known.device_class is device_class:
            return known
        if len(self._known) >= _KEPT:
            self._known.clear()
        made = self._known[key] = _selection(spec, device_class)
        return made


def _selection(spec: DeviceRequest, device_class: DeviceClass) -> Selection:
    selectors = [ClaimSelector(text, at, True) for at, text in enumerate(device_class.selectors)]
    selectors += [ClaimSelector(text, at, False) for at, text in enumerate(spec.selectors)]
    return Selection(tuple(selectors), Signature.of(spec, (one.text for one in selectors)), device_class)
