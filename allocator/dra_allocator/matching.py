"""Whether requests can all have devices at once when each device goes to one of them: bipartite matching."""

from __future__ import annotations

from collections.abc import Sequence

Demand = tuple[int, Sequence[int]]
"""So many of these positions."""


def can_all_have(demands: Sequence[Demand]) -> bool:
    """Return whether every demand can get its number of positions with no position given twice."""
    merged: dict[tuple[int, ...], int] = {}
    for wanted, positions in demands:
        key = tuple(positions)
        merged[key] = merged.get(key, 0) + wanted
    if any(wanted > len(positions) for positions, wanted in merged.items()):
        return False
    choices = list(merged)
    owners: dict[int, int] = {}
    return len(choices) < 2 or all(
        _augment(index, choices, owners) for index, positions in enumerate(choices) for _ in range(merged[positions])
    )


def _augment(start: int, choices: Sequence[Sequence[int]], owners: dict[int, int]) -> bool:
    """Give one more position to a demand, moving others to different ones where that is necessary."""
    queue = [start]
    via: dict[int, int] = {start: -1}
    wanted_by: dict[int, int] = {}
    for index in queue:
        for position in choices[index]:
            if position in wanted_by:
                continue
            wanted_by[position] = index
            owner = owners.get(position)
            if owner is None:
                _hand_over(position, wanted_by, via, owners)
                return True
            if owner not in via:
                via[owner] = position
                queue.append(owner)
    return False


def _hand_over(position: int, wanted_by: dict[int, int], via: dict[int, int], owners: dict[int, int]) -> None:
    while position >= 0:
        index = wanted_by[position]
        owners[position] = index
        position = via[index]
