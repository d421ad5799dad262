from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.transport import TransportError
from dra_scheduler.client.lines import LineSplitter


@given(st.lists(st.binary(max_size=6)), st.lists(st.integers(1, 5)))
def test_lines_come_out_whole_however_they_are_cut(lines: list[bytes], cuts: list[int]) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    stream = b"".join(line + b"\n" for line in lines) + b"unfinished"
    splitter, out = LineSplitter(), []
    while stream:
        size = cuts.pop() if cuts else len(stream)
        out += splitter.feed(stream[:size])
        stream = stream[size:]
    assert out == [line for line in lines if line]


def test_a_line_without_end_is_given_up() -> None:
    splitter = LineSplitter(limit=10)
    assert splitter.feed(b"12345") == []
    assert splitter.feed(b"67890\nabc") == [b"1234567890"]
    with pytest.raises(TransportError, match="larger than 10 bytes"):
        splitter.feed(b"defghijkl")
