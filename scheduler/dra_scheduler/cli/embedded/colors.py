"""A color for each pod, the same as long as it is shown."""

from __future__ import annotations

PALETTE = (
    "dodger_blue1",
    "orange1",
    "medium_purple1",
    "spring_green2",
    "hot_pink",
    "gold1",
    "turquoise2",
    "light_coral",
    "chartreuse2",
    "orchid",
)
"""Colors that can be told apart and that black text can be read on."""
INK = "grey0"
"""The text on them: a black that no terminal's theme changes."""
FREE = "grey89 on grey30"
"""Text and ground of what is free: to be read on dark and on light terminals."""
UNAVAILABLE = "grey50"
"""What is not to be had."""


class Colors:
    """Gives colors out, one after the other; with more pods than colors they come again."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def of(self, pod: str) -> str:
        """The color of a pod (`namespace/name`)."""
        return self._given.setdefault(pod, PALETTE[len(self._given) % len(PALETTE)])
