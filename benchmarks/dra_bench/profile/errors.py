"""What can go wrong while a scheduler is looked into."""

from __future__ import annotations


class ProfileError(Exception):
    """No samples came out, or they cannot be read; the text says which. Measure again, with more pods."""
