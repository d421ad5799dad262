"""What can go wrong while memory is measured."""

from __future__ import annotations


class MemoryRunError(Exception):
    """The scheduler ended by itself, or the system does not say what memory it has; the text says which."""
