"""What the allocator raises. Callers of its public functions see outcomes; these stay inside."""

from __future__ import annotations

from dra_allocator.outcome import AllocationError


class AllocatorError(Exception):
    """Base class of everything that dra_allocator raises on purpose."""


class AttemptFailedError(AllocatorError):
    """The attempt ends, for one node or the whole pod, with this AllocationError."""

    def __init__(self, error: AllocationError) -> None:
        super().__init__(str(error))
        self.error = error


class StaleRowsError(AllocatorError):
    """The table changed while a search was paused: its node has to be looked at anew. Nobody's fault."""
