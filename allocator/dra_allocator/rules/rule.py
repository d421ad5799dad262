"""The interface between the search and a rule about the devices chosen so far.

    take(request, position)      do: note the device if the rule allows it
    release(request, position)   undo: the exact inverse of the latest `take` that returned True

A device is a position in the node's search order. A rule never changes while `take` returns False or raises.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol

from dra_allocator.candidates import Candidates, Need


class Rule(Protocol):
    """One restriction, with its account of the devices chosen so far."""

    @property
    def can_fail(self) -> bool:
        """Whether `fails` is true of any device at all, by all that is known without looking at devices."""
        ...

    def take(self, request: Candidates, position: int) -> bool:
        """Add a device to the choice and return True, or return False and change nothing.

        Raises:
            AttemptFailedError: the device shows that something is wrong, not only that it does not fit.

        """
        ...

    def release(self, request: Candidates, position: int) -> None:
        """Undo the latest `take` that returned True; its arguments are the same."""
        ...

    def key(self, position: int) -> Hashable:
        """Return what the rule reads of a device: devices with equal keys are interchangeable for it."""
        ...

    def state(self) -> Hashable:
        """Return the account: with equal states the rule decides equally from here on."""
        ...

    def prune(self, request: Candidates, positions: Sequence[int], wanted: int) -> Sequence[int]:
        """Return those positions that can be part of `wanted` further devices, in order; none if there is no room.

        A cheap necessary condition: what is returned need not work out, what is left out cannot. None of the positions
        `fails`, here and in `suffices`.
        """
        ...

    def fails(self, request: Candidates, position: int) -> bool:
        """Return whether `take` raises for the device, whatever was taken: nothing is pruned before it is reached."""
        ...

    def suffices(self, needs: Sequence[Need]) -> bool:
        """Return whether there may be enough for all these needs together.

        A cheap necessary condition like `prune`: False means that there is no way.
        """
        ...
