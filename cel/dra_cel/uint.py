"""CEL's 64-bit numbers."""

from __future__ import annotations

MAX_INT = 2**63 - 1
MIN_INT = -(2**63)
MAX_UINT = 2**64 - 1


class UInt(int):
    """A CEL uint. It compares with int by value, as CEL's numbers do; `type(x) is UInt` tells it apart."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"
