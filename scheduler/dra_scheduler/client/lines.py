"""Splitting a stream of bytes into lines, each of bounded size."""

from __future__ import annotations

from dra_api.transport import TransportError

LINE_LIMIT = 32 * 1024 * 1024
"""Bytes of one watch event at most; etcd takes objects of 1.5 MiB by default, JSON is some times that."""


class LineSplitter:
    """Feed chunks, get whole lines without their ends. What a cut stream leaves unfinished is not a line."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this chunk ends. Raises TransportError when one is too long."""
        first, *others = chunk.split(b"\n")
        if self._size + len(first) > self._limit:
            raise TransportError(f"a watch event is larger than {self._limit} bytes")
        if not others:
            self._rest.append(first)
            self._size += len(first)
            return []
        lines = [b"".join([*self._rest, first]), *others[:-1]]
        self._rest, self._size = [others[-1]], len(others[-1])
        return [line for line in lines if line]
