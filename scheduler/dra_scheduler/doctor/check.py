"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "problem", "unknown"]


@dataclass(frozen=True, slots=True)
class Check:
    """`name` is stable. `unknown`: it could not be found out, `text` says why. `todo`: what to do, empty if nothing."""

    name: str
    status: Status
    text: str
    todo: str = ""
