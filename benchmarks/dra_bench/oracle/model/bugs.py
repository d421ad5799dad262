"""The bugs of Kubernetes 1.37.2's allocator that the model can have, and that we do not copy."""

from __future__ import annotations

from enum import IntEnum


class Bug(IntEnum):
    """The numbers that the project's notes give them."""

    ALL_UNDER_CONSTRAINT = 5
    """Mode All: the first violated constraint is a fatal error instead of a step back."""
    OLD_GENERATION = 6
    """An older generation that looks complete is used although the newest one serves other nodes."""
    ADMIN_ACCESS = 7
    """Admin access needs and consumes counters and capacity, and blocks devices and groups."""
    DEVICE_NODE_SELECTOR = 8
    """A device's node selector that cannot be used ends the attempt instead of taking out the device."""
    INTEGER_RANGE = 9
    """With fractional ranges on, integer ranges are computed in thousandths too, and overflow."""
    EXPONENTIAL = 10
    """Out of time among devices that are alike. Not switched on in the model: it is seen by the deadline."""
    FORGOTTEN_SHARE = 15
    """A device that shares without capacity hold, and that is not shareable any more, is given away as a whole."""
    UNGROUPED_FORGOTTEN = 16
    """Devices held on a counter set that do not go together: what the first one found has decides who may join."""


MODELLED = tuple(bug for bug in Bug if bug is not Bug.EXPONENTIAL)
