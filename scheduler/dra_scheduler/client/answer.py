"""Reading an answer of HTTP/1.1 (RFC 9112) as it arrives: a head, then a body of one of four lengths.

    head --> 204, 304: none | Transfer-Encoding: chunked | Content-Length | until the connection ends --> complete

Only what API servers send is understood; anything else is an error, and the connection of no more use.
"""

from __future__ import annotations

from dra_api.transport import Response

HEAD_LIMIT = 64 * 1024
"""Bytes of a head at most, and of one line of a chunk's length."""
_NO_BODY = (204, 304)


class AnswerError(Exception):
    """The server sent what is no answer, or too large a one: not of an API server, or a proxy's fault in between."""


class AnswerReader:
    """Reads one answer: `feed` it what arrives until it returns the answer.

    `keep`: whether the connection may be used again afterwards; `limit`: bytes of a body at most.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._at = 0
        self._status = 0
        self._headers: dict[str, str] = {}
        self._length: int | None = None
        self._chunked = False
        self._body = bytearray()
        self.keep = True

    def feed(self, data: bytes) -> Response | None:
        """Take in what arrived. Raises AnswerError."""
        self._data += data
        if not self._status and not self._head():
            return None
        if self._chunked:
            return self._answer(bytes(self._body)) if self._chunks() else None
        held = len(self._data) - self._at
        if self._length is None:
            self._check(held)
            return None
        if held < self._length:
            return None
        end = self._at + self._length
        if held > self._length:
            self.keep = False  # nobody asked for more
        return self._answer(bytes(self._data[self._at : end]))

    def end(self) -> Response | None:
        """The connection has ended; None: in the middle of the answer."""
        if self._status and self._length is None and not self._chunked:
            return self._answer(bytes(self._data[self._at :]))
        return None

    def _answer(self, body: bytes) -> Response:
        return Response(self._status, body, self._headers)

    def _head(self) -> bool:
        """Read the head if it is complete; answers of 1xx come before the real one and say nothing to us."""
        while True:
            end = self._data.find(b"\r\n\r\n", self._at)
            if end < 0:
                if len(self._data) - self._at > HEAD_LIMIT:
                    raise AnswerError("the answer's head does not end")
                return False
            lines = self._data[self._at : end].decode("latin-1").split("\r\n")
            self._at = end + 4
            status = _status(lines[0])
            if status >= 200:
                break
        self._status = status
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip():
                raise AnswerError("the answer's head has a line that is no header")
            self._headers[name.lower()] = value.strip()
        self._how(lines[0].startswith("HTTP/1.0"))
        return True

    def _how(self, old: bool) -> None:
        """Find out how long the body is."""
        coding = self._headers.get("transfer-encoding", "").lower()
        if self._headers.get("connection", "").lower() == "close" or old:
            self.keep = False
        if self._status in _NO_BODY:
            self._length = 0
        elif coding:
            if coding != "chunked":
                raise AnswerError(f"the answer has an unknown transfer encoding {coding!r}")
            self._chunked = True
        elif "content-length" in self._headers:
            self._length = _number(self._headers["content-length"], 10)
            self._check(self._length)
        else:
            self.keep = False

    def _chunks(self) -> bool:
        """Take in the chunks that are there; whether that was the last."""
        while True:
            end = self._data.find(b"\r\n", self._at)
            if end < 0:
                if len(self._data) - self._at > HEAD_LIMIT:
                    raise AnswerError("the length of a chunk does not end")
                return False
            size = _number(self._data[self._at : end].partition(b";")[0].decode("latin-1").strip(), 16)
            if not size:
                return self._trailer(end)
            self._check(len(self._body) + size)
            stop = end + 2 + size
            if len(self._data) < stop + 2:
                return False
            if self._data[stop : stop + 2] != b"\r\n":
                raise AnswerError("a chunk is longer than it says")
            self._body += self._data[end + 2 : stop]
            del self._data[: stop + 2]
            self._at = 0

    def _trailer(self, end: int) -> bool:
        """Whether the empty line after the last chunk, and headers there that nobody reads, have come."""
        if self._data[end : end + 4] == b"\r\n\r\n":
            done = end + 4
        else:
            done = self._data.find(b"\r\n\r\n", end) + 4
            if done < 4:
                return False
        if len(self._data) > done:
            self.keep = False
        return True

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise AnswerError(f"the answer is larger than {self._limit} bytes")


def _status(line: str) -> int:
    version, _, rest = line.partition(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0") or not (rest[:3].isascii() and rest[:3].isdigit() and len(rest) >= 3):
        raise AnswerError("the answer is none of HTTP/1.1")
    return int(rest[:3])


def _number(text: str, base: int) -> int:
    if not text.isascii() or not text.isalnum():
        raise AnswerError(f"{text[:40]!r} is no length")
    try:
        return int(text, base)
    except ValueError:
        raise AnswerError(f"{text[:40]!r} is no length") from None
