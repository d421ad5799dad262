"""The real time."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """The clock port (`dra_api.clock.Clock`) of a process that runs for real."""

    def monotonic(self) -> float:
        """Seconds, never going back."""
        return time.monotonic()

    def now(self) -> datetime:
        """The time of day, UTC."""
        return datetime.now(UTC)
