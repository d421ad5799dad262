"""Quantities and versions: refused with our own error, or read, printed, compared and read again as the same."""

from __future__ import annotations

from typing import NoReturn

from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.fuzz.text import damaged, smaller
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.quantities import quantity_text, version_text
from dra_cel.quantity import Quantity, QuantityError
from dra_cel.semver import Semver, SemverError

PARSE_MS = 50.0
"""CPU time for 10 KiB."""


def _quantity_text(seed: int) -> str:
    draw = Draw(f"fuzz quantity {seed}")
    text = quantity_text(draw)
    if draw.chance(0.02):
        text = draw.one("123456789") * draw.number(1, 10_000) + text
    return damaged(draw, text, most=3) if draw.chance(0.7) else text


def _version_text(seed: int) -> str:
    draw = Draw(f"fuzz version {seed}")
    text = version_text(draw)
    return damaged(draw, text, most=3) if draw.chance(0.7) else text


def _check_quantity(text: str, watch: Watch) -> str:
    with watch.at_most(PARSE_MS, "quantity"):
        try:
            value = Quantity.parse(text)
        except QuantityError as error:
            return "refused" if str(error) else _failed("an error without text")
        printed = str(value)
        again = Quantity.parse(printed)
        if again != value or hash(again) != hash(value) or str(again) != printed:
            _failed(f"printed as {printed}, read again as {again}")
        one = Quantity.from_int(1)
        if value.add(one).sub(one) != value or not value < value.add(one):
            _failed(f"{printed} + 1 - 1 is {value.add(one).sub(one)}")
        if value.nanos >= 0 and not value.value() * 1000 >= value.milli_value() >= value.nanos // 10**6:
            _failed(f"{printed} rounds down: {value.value()}, {value.milli_value()} thousandths")
    return "read"


def _check_version(text: str, watch: Watch) -> str:
    with watch.at_most(PARSE_MS, "version"):
        readings = [_version(text, normalize) for normalize in (False, True)]
    if readings[0] is not None and readings[0] != readings[1]:
        _failed(f"normalizing changes a version that is right: {readings[0]}, {readings[1]}")
    return "read" if readings[0] else "normalized" if readings[1] else "refused"


def _version(text: str, normalize: bool) -> Semver | None:
    try:
        version = Semver.parse(text, normalize=normalize)
    except SemverError as error:
        return None if str(error) else _failed("an error without text")
    again = Semver.parse(str(version))
    if again != version or str(again) != str(version) or hash(again) != hash(version) or again < version:
        _failed(f"printed as {version}, read again as {again}")
    if not normalize and str(version) != text:
        _failed(f"printed as {version}")
    return version


def _failed(problem: str) -> NoReturn:
    raise PropertyError(problem)


QUANTITIES = Study(_quantity_text, _check_quantity, smaller)
SEMVERS = Study(_version_text, _check_version, smaller)
