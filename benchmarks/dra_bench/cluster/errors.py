"""What can go wrong in a race."""

from __future__ import annotations


class RaceError(Exception):
    """A race cannot be run or does not count; the text says why and what to do."""


class StuckError(RaceError):
    """A scheduler did not bind its pods in time, or ended on its own: its log is in the text."""
