"""Hints for whoever wrote an expression: the name that was probably meant, the call that would work."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from dra_cel.types import QUANTITY, SEMVER, STRING, Type

_MAX_CANDIDATES = 400
_OF_TWO = frozenset({"compareTo", "isGreaterThan", "isLessThan", "add", "sub"})
_ORDER = frozenset({"_<_", "_<=_", "_>_", "_>=_"})


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that looks most like name, or None where none does."""
    pool = sorted(candidate for candidate in candidates if "@" not in candidate and candidate[:1] != "_")
    matches = difflib.get_close_matches(name, pool[:_MAX_CANDIDATES], n=1, cutoff=0.6)
    if matches:
        return matches[0]
    folded = {candidate.lower(): candidate for candidate in pool}
    return folded.get(name.lower())


def for_arguments(function: str, args: Sequence[Type]) -> str | None:
    """Return what to write instead of a call that has no matching overload, or None."""
    if function in _ORDER and (QUANTITY in args or SEMVER in args):
        return "a.compareTo(b), a.isGreaterThan(b) or a.isLessThan(b)"
    if function in ("_==_", "_!=_") and QUANTITY in args:
        return 'quantity("...") on both sides'
    if function in ("_==_", "_!=_") and SEMVER in args:
        return 'semver("...") on both sides'
    if function in _OF_TWO and len(args) == 2 and args[0] in (QUANTITY, SEMVER) and args[1] == STRING:
        return f'{function}({"quantity" if args[0] == QUANTITY else "semver"}("..."))'
    if function in ("_+_", "_-_") and QUANTITY in args:
        return "a.add(b) or a.sub(b)"
    return None
