"""Selectors: whatever the text, compiling refuses it or evaluating answers, alone as over columns, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from dra_bench.conformance.fields import device_fields
from dra_bench.fuzz.shapes import SHAPES
from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.fuzz.text import MAX_TEXT, damaged, smaller
from dra_bench.oracle import generate_expressions
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.expression_templates import LEAVES, TEMPLATES
from dra_cel.columns import DeviceColumns
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.selector import Selector, compile_selector

COMPILE_MS = 250.0
"""CPU time to compile 10 KiB: up to 150 for chains of `optMap` where the core is shared with other processes."""
EVALUATE_MS = 1000.0
"""CPU time to evaluate one device: the cost limit ends it."""
MASKS_MS = 200.0
"""CPU time of one call of `masks` over the devices."""

Input = tuple[str, int]
"""An expression and the seed of its devices."""

_WORDS = tuple(piece for table in (LEAVES, TEMPLATES) for pieces in table.values() for piece in pieces)


def make(seed: int) -> Input:
    """Return an expression: grown, damaged, of a bad shape, or a soup of words."""
    draw = Draw(f"selector {seed}")
    way = draw.weighted({"grown": 4, "damaged": 8, "shape": 1, "soup": 2})
    if way == "soup":
        text = draw.one(("", " ", ".")).join(draw.one(_WORDS) for _ in range(draw.number(1, 12)))
        return text[:MAX_TEXT], seed
    if way == "shape":
        text = SHAPES[draw.one(sorted(SHAPES))]()
        return (damaged(draw, text, _WORDS) if draw.chance(0.7) else text), seed
    text = str(generate_expressions.generate(seed))
    return (damaged(draw, text, _WORDS, most=2) if way == "damaged" else text), seed


def check(given: Input, watch: Watch) -> str:
    """Compile and evaluate; only CelErrors come out, and columns say what devices alone say."""
    text, seed = given
    try:
        with watch.at_most(COMPILE_MS, "compile"):
            selector = compile_selector(text)
    except CompileError as error:
        _readable(error)
        return "refused"
    devices = sample_devices(seed % 50)
    letters = ""
    for device in devices:
        with watch.at_most(EVALUATE_MS, "evaluate"):
            letters += _letter(selector, device)
    _compare_columns(selector, devices, letters, watch)
    return "evaluated" if set(letters) != {"E"} else "fails everywhere"


@cache
def sample_devices(seed: int) -> list[DeviceFields]:
    """Return a few devices that have what the generated expressions read."""
    return [device_fields(device) for device in generate_expressions.devices(seed, 4)]


def _readable(error: CompileError) -> None:
    if not (str(error) and error.excerpt() and 0 <= error.offset <= len(error.expression)):
        raise PropertyError(f"the error has no place in the text: {error!r} at {error.offset}")


def _letter(selector: Selector, device: DeviceFields) -> str:
    try:
        return "T" if selector.matches(device) else "F"
    except EvaluationError as error:
        if not str(error):
            raise PropertyError("an error without text") from error
        return "E"


def _compare_columns(selector: Selector, devices: list[DeviceFields], letters: str, watch: Watch) -> None:
    columns = DeviceColumns(devices)
    with watch.at_most(MASKS_MS, "masks"):
        masks = selector.masks(columns)
    for row, letter in enumerate(letters):
        flags: tuple[Any, ...] = masks.match[row], masks.error[row], masks.unknown[row]
        if sum(map(bool, flags)) > 1:
            raise PropertyError(f"device {row} is in more than one mask: {flags}")
        found = "T" if flags[0] else "E" if flags[1] else letter if flags[2] else "F"
        if found != letter:
            raise PropertyError(f"device {row}: {letter} alone, {found} over columns")


def _smaller(given: Input) -> Iterator[Input]:
    return ((text, given[1]) for text in smaller(given[0]))


STUDY = Study(make, check, _smaller)
