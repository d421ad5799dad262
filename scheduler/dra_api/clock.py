"""Time as a port: who needs the time is given a clock, so that tests and simulation run in virtual time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Two readings of time. Waiting is the event loop's business (in virtual time the loop itself is virtual)."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary point, never going back: for durations, deadlines and leases."""
        ...

    def now(self) -> datetime:
        """The time of day, UTC: for timestamps in API objects only."""
        ...
