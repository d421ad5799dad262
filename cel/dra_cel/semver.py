"""Semantic versions 2.0.0, as device attributes and the `semver` functions use them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from dra_cel.errors import CelError

_VERSION = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?",
    re.ASCII,
)
_MAX_UINT64 = 2**64 - 1
_MAX_UINT64_DIGITS = 20

PreRelease = tuple[tuple[int, int, str], ...]


class SemverError(CelError, ValueError):
    """The text is no semantic version; whoever wrote it has to correct it."""


@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Semver:
    """A semantic version. Equality and order go by precedence: build metadata does not count.

    Attributes:
        text: what was parsed (after normalization); str() returns it.
        major: first number, and so on.

    """

    text: str
    major: int
    minor: int
    patch: int
    precedence: tuple[int, int, int, int, PreRelease]

    @classmethod
    def parse(cls, text: str, normalize: bool = False) -> Semver:
        """Parse `major.minor.patch[-prerelease][+build]`.

        With normalize a leading `v`, missing minor and patch numbers and leading zeros are accepted too.

        Raises:
            SemverError: the text is no version.

        """
        if normalize:
            text = _normalize(text)
        match = _VERSION.fullmatch(text)
        if match is None:
            raise SemverError(f"version {text[:80]!r} must have the form major.minor.patch[-prerelease][+build]")
        numbers = [_number(text, part) for part in match.group(1, 2, 3)]
        prerelease = match.group(4)
        key = _prerelease_key(text, prerelease) if prerelease else ()
        major, minor, patch = numbers
        return cls(text, major, minor, patch, (major, minor, patch, 0 if prerelease else 1, key))

    def __eq__(self, other: object) -> bool:
        return self.precedence == other.precedence if isinstance(other, Semver) else NotImplemented

    def __lt__(self, other: Semver) -> bool:
        return self.precedence < other.precedence

    def __hash__(self) -> int:
        return hash((Semver, self.precedence))

    def __str__(self) -> str:
        return self.text


def _number(text: str, digits: str) -> int:
    if len(digits) > _MAX_UINT64_DIGITS or int(digits) > _MAX_UINT64:
        raise SemverError(f"version {text[:80]!r}: a number does not fit into 64 bits")
    return int(digits)


def _prerelease_key(text: str, prerelease: str) -> PreRelease:
    key = []
    for part in prerelease.split("."):
        if part.isdigit():
            if len(part) > 1 and part[0] == "0":
                raise SemverError(f"version {text[:80]!r}: pre-release number {part!r} has leading zeros")
            key.append((0, _number(text, part), ""))
        else:
            key.append((1, 0, part))
    return tuple(key)


def _normalize(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1].isascii() and stripped[:1].isdigit() else "0" + stripped
    if len(parts) < 3:
        if any(mark in parts[-1] for mark in "+-"):
            raise SemverError(f"version {text[:80]!r}: a short version can have no pre-release or build")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)
