"""The devices that one request may get on one node, before rules are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dra_allocator.requests import ResolvedRequest

NO, YES, OPEN = 0, 1, 2
"""A device's status for a request: not selected, selected, to be evaluated when visited."""


class Candidates:
    """One request on one node.

    `status` has NO, YES or OPEN per position (see `problem`); `positions` are those that may be picked, in search
    order: free and not NO; in mode All every selected device, free or not. `wanted` is the number of devices.
    """

    __slots__ = ("admin", "claim", "is_all", "positions", "request", "status", "wanted")

    def __init__(self, request: ResolvedRequest, status: list[int], positions: list[int], wanted: int) -> None:
        self.request = request
        self.claim = request.claim
        self.admin = request.spec.admin_access
        self.is_all = request.is_all
        self.status = status
        self.positions = positions
        self.wanted = wanted


class Need(NamedTuple):
    """What a request still needs: `wanted` of these positions, which are free and selected."""

    candidates: Candidates
    positions: Sequence[int]
    wanted: int


def least_after(requests: Sequence[Sequence[Candidates]]) -> list[int]:
    """Return per request (its alternatives) the least number of devices of the later requests of its claim."""
    least = [0] * len(requests)
    for index in range(len(requests) - 2, -1, -1):
        following = requests[index + 1]
        if following[0].claim == requests[index][0].claim:
            least[index] = least[index + 1] + min(candidates.wanted for candidates in following)
    return least
