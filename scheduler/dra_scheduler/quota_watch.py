"""Seeing ResourceQuotas, from the first pod on that one keeps from its claim.

Only claims for extended resources are made by the scheduler, so in most clusters no quota ever concerns it: nothing is
watched, and no right is needed, until an API server refuses such a claim with `exceeded quota`.
"""

from __future__ import annotations

from collections.abc import Callable

from dra_scheduler.client.reflector import Reflector

QUOTA_EXCEEDED = "exceeded quota"
"""What the API server's message says when a quota refuses an object."""


class QuotaWatch:
    """Asks `start` for a running reflector of ResourceQuotas when it is first needed."""

    def __init__(self, start: Callable[[], Reflector]) -> None:
        self._start = start
        self._reflector: Reflector | None = None

    def sees(self, problem: str) -> bool:
        """Whether an event will tell when the quota that this refusal is about changes.

        False for other refusals, and until all quotas are known (never without the right to watch them).
        """
        if QUOTA_EXCEEDED not in problem:
            return False
        if self._reflector is None:
            self._reflector = self._start()
        return self._reflector.synced.is_set()
