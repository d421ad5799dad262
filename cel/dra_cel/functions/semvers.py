"""Kubernetes' library of semantic versions."""

from __future__ import annotations

from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import per_character
from dra_cel.functions.table import member, overload
from dra_cel.semver import Semver, SemverError
from dra_cel.uint import MAX_INT


def _parse(text: str, normalize: bool = False) -> Semver:
    try:
        return Semver.parse(text, normalize)
    except SemverError as error:
        raise EvaluationError(str(error)) from error


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        Semver.parse(text, normalize)
    except SemverError:
        return False
    return True


def _compare(left: Semver, right: Semver) -> int:
    return (left > right) - (left < right)


def _signed(value: int) -> int:
    """Return a 64-bit number as CEL's int shows it: Kubernetes converts without a check."""
    return value if value <= MAX_INT else value - 2**64


OVERLOADS = [
    overload("string_to_semver", "semver(string) -> Semver", _parse, per_character()),
    overload("string_bool_to_semver", "semver(string, bool) -> Semver", _parse, per_character()),
    overload("is_semver_string", "isSemver(string) -> bool", _is_semver, per_character()),
    overload("is_semver_string_bool", "isSemver(string, bool) -> bool", _is_semver, per_character()),
    member("semver_is_greater_than", "isGreaterThan(Semver, Semver) -> bool", lambda left, right: left > right),
    member("semver_is_less_than", "isLessThan(Semver, Semver) -> bool", lambda left, right: left < right),
    member("semver_compare_to", "compareTo(Semver, Semver) -> int", _compare),
    member("semver_major", "major(Semver) -> int", lambda value: _signed(value.major)),
    member("semver_minor", "minor(Semver) -> int", lambda value: _signed(value.minor)),
    member("semver_patch", "patch(Semver) -> int", lambda value: _signed(value.patch)),
]
