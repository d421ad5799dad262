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
    near = difflib.get_close_matches(name, same or pool, 1, 0.0 if same else 0.6)
    if not near:
        near = difflib.get_close_matches(name.lower(), [one.lower() for one in pool], 1)
        near = [one for one in pool if near and one.lower() == near[0]]
    return f"did you mean {near[0]}?" if near else ""
