"""Names of attributes and capacities: which ones are published, and which one was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the published name that was probably meant, or an empty text.

    The same name in another domain comes first, then what looks alike.
    """
    pool = sorted(known)
    identifier = name.rpartition("/")[2]
    same = [one for one in pool if one.rpartition("/")[2] == identifier]
    if same:
        return _hint(difflib.get_close_matches(name, same, 1, 0.0))
    # Whole names look alike already by their domain, so what is behind it is compared, whatever its case.
    short = {one.rpartition("/")[2].lower(): one for one in pool}
    return _hint([short[one] for one in difflib.get_close_matches(identifier.lower(), short, 1)])


def _hint(near: list[str]) -> str:
    return f"did you mean {near[0]}?" if near else ""
