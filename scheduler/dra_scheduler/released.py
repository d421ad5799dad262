"""What an attempt to take back something ends in."""

from __future__ import annotations

import enum


class Released(enum.Enum):
    """What became of an attempt to take back a reservation or an allocation, or to delete a claim."""

    DONE = "done"
    LINGERS = "deleted, and there with all that it holds until others remove their finalizers"
    IN_USE = "somebody else uses it"
    FAILED = "not known, or refused: to be tried again"
