"""The machine's own time, for tests against servers that are not ours."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class WallClock:
    """The clock port over the machine's clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)
