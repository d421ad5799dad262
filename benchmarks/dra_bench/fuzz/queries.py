"""Label and field selectors in query form: refused with our own error, or read; then they answer for any labels."""

from __future__ import annotations

from dra_api.errors import SelectorSyntaxError
from dra_api.field_selectors import parse_field_query
from dra_api.labels import parse_label_query
from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.fuzz.text import damaged, smaller
from dra_bench.oracle.draw import Draw

PARSE_MS = 100.0
"""CPU time for 10 KiB."""
_QUERIES = (
    "a=b", "a==b,c!=d", "!a", "a,b", "a in (x, y),b notin (z)", "a.b/c in ()", "n>1,m<2", "metadata.name=a", "x\\,y=z",
    "spec.nodeName!=,status.phase=Running", "a in (x", "in in (in)", "=", "a=b\\=c",
)  # fmt: skip
_WORDS = ("in", "notin", "(", ")", ",", "=", "==", "!=", "!", "<", ">", "a/b", "\\", "metadata.name")
_LABELS: tuple[dict[str, str], ...] = ({}, {"a": "b"}, {"a": "x", "n": "5", "a.b/c": ""})


def make(seed: int) -> str:
    """Return a query, usually damaged."""
    draw = Draw(f"query {seed}")
    text = draw.one(_QUERIES)
    return damaged(draw, text, _WORDS, most=5) if draw.chance(0.95) else text


def check(text: str, watch: Watch) -> str:
    """Read it both ways and ask it."""
    kinds = []
    with watch.at_most(PARSE_MS, "query"):
        for way, parse in (("labels", _labels), ("fields", _fields)):
            try:
                parse(text)
                kinds.append(way)
            except SelectorSyntaxError as error:
                if not error.problem:
                    raise PropertyError("an error without text") from error
    return " and ".join(kinds) or "refused"


def _labels(text: str) -> None:
    matcher = parse_label_query(text)
    for labels in _LABELS:
        matcher.matches(labels)


def _fields(text: str) -> None:
    matcher = parse_field_query(text)
    matcher.matches(lambda _: "a")


STUDY = Study(make, check, smaller)
