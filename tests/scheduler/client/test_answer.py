"""Answers of HTTP/1.1, however they are cut into pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.transport import Response
from dra_scheduler.client.answer import AnswerError, AnswerReader

LIMIT = 1000


def read(data: bytes, cuts: list[int]) -> tuple[Response | None, bool]:
    """Feed the data in pieces; the answer must come with the last piece."""
    reader = AnswerReader(LIMIT)
    answer = None
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    for start, end in itertools.pairwise(places):
        assert answer is None
        answer = reader.feed(data[start:end])
    return answer, reader.keep


def chunked(body: bytes, sizes: list[int]) -> bytes:
    pieces, at = [], 0
    for size in sizes:
        piece = body[at : at + size]
        at += size
        if piece:
            pieces.append(b"%X;x=y\r\n%s\r\n" % (len(piece), piece))
    if body[at:]:
        pieces.append(b"%x\r\n%s\r\n" % (len(body[at:]), body[at:]))
    return b"".join(pieces)


CUTS = st.lists(st.integers(0, 5000), max_size=6)


@given(body=st.binary(max_size=300), cuts=CUTS)
def test_a_body_of_a_known_length_is_read_from_any_pieces(body: bytes, cuts: list[int]) -> None:
    head = b"HTTP/1.1 201 Created\r\nRetry-After: 3\r\nContent-Length: %d\r\n\r\n" % len(body)
    answer, keep = read(head + body, cuts)
    assert answer == Response(201, body, {"retry-after": "3", "content-length": str(len(body))})
    assert keep


@given(
    body=st.binary(max_size=300),
    sizes=st.lists(st.integers(1, 60)),
    cuts=CUTS,
    trailer=st.sampled_from([b"", b"X-Sum: 1\r\n"]),
)
def test_a_body_in_chunks_is_read_from_any_pieces(
    body: bytes, sizes: list[int], cuts: list[int], trailer: bytes
) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer, keep = read(head + chunked(body, sizes) + b"0\r\n" + trailer + b"\r\n", cuts)
    assert answer is not None
    assert (answer.status, answer.body, keep) == (200, body, True)


@given(body=st.binary(max_size=300), cuts=CUTS)
def test_a_body_without_a_length_ends_with_the_connection(body: bytes, cuts: list[int]) -> None:
    reader = AnswerReader(LIMIT)
    data = b"HTTP/1.1 500 x\r\n\r\n" + body
    assert reader.feed(data[: len(cuts)]) is None
    assert reader.feed(data[len(cuts) :]) is None
    assert reader.end() == Response(500, body, {})
    assert not reader.keep


def test_informational_answers_come_before_the_real_one() -> None:
    answer, _ = read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 204 No\r\n\r\n", [3, 40])
    assert answer == Response(204, b"", {})


def test_an_answer_that_is_cut_is_none() -> None:
    for data in (b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"):
        reader = AnswerReader(LIMIT)
        assert reader.feed(data) is None
        assert reader.end() is None


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nmore",
    ],
)
def test_a_connection_is_not_used_again_when_the_server_says_so_or_sends_more(data: bytes) -> None:
    reader = AnswerReader(LIMIT)
    answer = reader.feed(data)
    assert answer is not None
    assert answer.body == b"ab"
    assert not reader.keep


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"SSH-2.0-x\r\n\r\n", "none of HTTP/1.1"),
        (b"HTTP/2 200 OK\r\n\r\n", "none of HTTP/1.1"),
        (b"HTTP/1.1 2x0 OK\r\n\r\n", "none of HTTP/1.1"),
        (b"HTTP/1.1 20", None),
        (b"HTTP/1.1 200 OK\r\nno header\r\n\r\n", "no header"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n folded: c\r\n\r\n", "no header"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", "no length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "larger than 1000 bytes"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1001, "larger than 1000 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "unknown transfer encoding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "no length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", "larger than 1000 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "longer than it says"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000, "does not end"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000, "does not end"),
    ],
)
def test_what_is_no_answer_is_refused(data: bytes, problem: str | None) -> None:
    reader = AnswerReader(LIMIT)
    if problem is None:
        assert reader.feed(data) is None
        return
    with pytest.raises(AnswerError, match=problem):
        reader.feed(data)
