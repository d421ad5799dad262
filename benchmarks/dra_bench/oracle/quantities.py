"""Random texts of quantities and versions: what Kubernetes reads, prints and compares, and what we do."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dra_bench.oracle.draw import Draw
from dra_bench.oracle.errors import OracleAnswerError
from dra_bench.oracle.process import Oracle
from dra_cel.quantity import Quantity, QuantityError
from dra_cel.semver import Semver, SemverError

JSON = dict[str, Any]
NANO = 9
_SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
_BROKEN = [
    "",
    " ",
    "1 Gi",
    "K",
    "ki",
    "1kb",
    "e",
    "1e",
    "--1",
    "+-1",
    "1.2.3",
    "0x10",
    "1_000",
    "Inf",
    "1i",
    ".",
    "+",
    "١",
]


def quantity_text(draw: Draw) -> str:
    """A quantity, usually one that can be read."""
    if draw.chance(0.06):
        return draw.one(_BROKEN)
    digits = "".join(draw.one("0123456789") for _ in range(draw.weighted({1: 5, 2: 5, 4: 3, 10: 2, 19: 1, 22: 1})))
    fraction = "." + "".join(draw.one("0123456789") for _ in range(draw.number(0, 12))) if draw.chance(0.3) else ""
    sign = draw.weighted({"": 8, "-": 2, "+": 1})
    exponent = f"{draw.one('eE')}{draw.one(['', '+', '-'])}{draw.number(0, 20)}" if draw.chance(0.12) else None
    suffix = draw.one(_SUFFIXES) if exponent is None else exponent
    if draw.chance(0.04):
        suffix += draw.one(["x", " ", "i"])
    return f"{sign}{'' if fraction and draw.chance(0.1) else digits}{fraction}{suffix}"


def version_text(draw: Draw) -> str:
    """A version, usually one that can be read."""
    numbers = [draw.weighted({"0": 4, "1": 4, "2": 3, "10": 2, "01": 1, "": 1}) for _ in range(draw.weighted(_PARTS))]
    text = ".".join(numbers)
    if draw.chance(0.4):
        text += "-" + ".".join(draw.one(["rc", "1", "02", "a-b", "", "10", "alpha"]) for _ in range(draw.number(1, 3)))
    if draw.chance(0.3):
        text += "+" + ".".join(draw.one(["b", "1", "001", "", "x-y"]) for _ in range(draw.number(1, 2)))
    return ("v" if draw.chance(0.08) else "") + text


_PARTS = {3: 12, 2: 2, 1: 1, 4: 1}


def quantity_difference(oracle: Oracle, seed: int) -> str | None:
    """Read, print, compare, add two quantities on both sides; say what differs."""
    draw = Draw(f"quantity {seed}")
    text, other = quantity_text(draw), quantity_text(draw)
    theirs = oracle.ask({"kind": "quantity", "text": text, "other": other})
    try:
        mine = Quantity.parse(text)
    except QuantityError as error:
        return (
            None if theirs.get("error") else f"{text!r}: we refuse it ({error}), Kubernetes reads {theirs['decimal']}"
        )
    if theirs.get("error"):
        return f"{text!r}: we read {mine}, Kubernetes refuses it: {theirs['error']}"
    found = _readings(theirs, mine)
    if "compared" in theirs:
        second = Quantity.parse(other)
        found |= {"compared": (theirs["compared"], (mine > second) - (mine < second))}
        found |= {"sum": (_nanos(theirs["sum"]), (mine.add(second)).nanos)}
        found |= {"difference": (_nanos(theirs["difference"]), (mine.sub(second)).nanos)}
    wrong = {name: pair for name, pair in found.items() if pair[0] != pair[1]}
    return f"{text!r} with {other!r}: (Kubernetes, ours) {wrong}" if wrong else None


def _readings(theirs: JSON, mine: Quantity) -> dict[str, tuple[object, object]]:
    found: dict[str, tuple[object, object]] = {"nanos": (_nanos(theirs["decimal"]), mine.nanos)}
    if not _printed_wrongly(mine):
        found["text"] = (theirs["canonical"], str(mine))
    # Their whole numbers wrap beyond int64, and those of negative fractions are off by one or two.
    if 0 <= mine.nanos < 2**63 * 10**6:
        found["milli"] = (theirs["milli"], mine.milli_value())
    if 0 <= mine.nanos < 2**63 * 10**9:
        found["value"] = (theirs["value"], mine.value())
    return found


def _printed_wrongly(quantity: Quantity) -> bool:
    """Kubernetes prints multiples of 10**21 without their exponent."""
    return quantity.nanos != 0 and quantity.nanos % 10 ** (21 + NANO) == 0


def _nanos(decimal: str) -> int:
    nanos = Fraction(decimal) * 10**NANO
    if nanos.denominator != 1:
        raise OracleAnswerError(f"{decimal} has more than nine decimal places")
    return int(nanos)


def version_difference(oracle: Oracle, seed: int) -> str | None:
    """Read, print, compare two versions on both sides; say what differs."""
    draw = Draw(f"version {seed}")
    text, other, normalize = version_text(draw), version_text(draw), draw.chance(0.3)
    theirs = oracle.ask({"kind": "semver", "text": text, "other": other, "normalize": normalize})
    try:
        mine = Semver.parse(text, normalize=normalize)
    except SemverError as error:
        return None if theirs.get("error") else f"{text!r}: we refuse it ({error}), Kubernetes reads {theirs}"
    if theirs.get("error"):
        return f"{text!r}: we read {mine}, Kubernetes refuses it: {theirs['error']}"
    if not normalize and theirs["canonical"] != str(mine):
        return f"{text!r}: Kubernetes prints {theirs['canonical']}, we {mine}"
    if "compared" in theirs:
        second = Semver.parse(other)
        compared = (mine > second) - (mine < second)
        if compared != theirs["compared"]:
            return f"{text!r} with {other!r}: Kubernetes says {theirs['compared']}, we {compared}"
    return None
