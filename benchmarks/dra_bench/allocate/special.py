"""The measurements of `scale`, by name: asked for by name or with --scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from dra_bench.allocate.row import Row
from dra_bench.allocate.scale.first import fallback, first_use, vectorised
from dra_bench.allocate.scale.large import large
from dra_bench.allocate.scale.load import load
from dra_bench.allocate.scale.texts import texts

Rows = Callable[[int | None, float, Callable[[float], None]], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Special:
    """A measurement: `rows` takes the number of nodes (None: its own), seconds, and what to tell progress."""

    summary: str
    rows: Rows


SPECIAL = {
    "first/vectorised": Special(
        "a selector text that is new each time, as column operations",
        partial(first_use, "first/vectorised", vectorised),
    ),
    "first/fallback": Special(
        "a selector text that is new each time, evaluated for 104 pairs of values",
        partial(first_use, "first/fallback", fallback),
    ),
    "load": Special("load_s: 5,000 ResourceSlices to the first decision", partial(load, "load")),
    "large": Special(
        "100,000 nodes streamed by another process (load_s, memory); one slice of them changed", partial(large, "large")
    ),
    "texts": Special("100,000 different selector texts: memory stays the same", partial(texts, "texts")),
}
