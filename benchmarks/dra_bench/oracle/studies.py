"""What can be compared, one seed at a time: clusters, expressions, quantities (with versions)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from dra_bench.oracle import compare_expressions, generate_clusters, generate_expressions
from dra_bench.oracle.classify import Verdict, judge
from dra_bench.oracle.compare_expressions import STORED, Evaluation, Setting, differences
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.errors import OracleError
from dra_bench.oracle.generate_expressions import Expression
from dra_bench.oracle.process import Oracle
from dra_bench.oracle.quantities import quantity_difference, version_difference
from dra_bench.oracle.shrink import shrink

JSON = dict[str, Any]
EQUAL = "equal"
_LEAST = "-9223372036854775808"
"""Kubernetes subtracts a number from a quantity by adding its opposite, and this one has none in 64 bits."""
_READS_WORDING = re.compile(r"\.validate\(.*\.(orValue|value|optMap|optFlatMap)\(")
"""An expression that may look into the texts about what a format found."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out for a seed: a kind to count by, and for unexplained ones a report that makes the case small."""

    kind: str
    report: Callable[[], str] | None = None


def cluster(oracle: Oracle, seed: int) -> Finding:
    """One random cluster through both allocators and the model."""
    return _judged(oracle, generate_clusters.generate(seed))


def crowd(oracle: Oracle, seed: int) -> Finding:
    """One cluster of many devices that are alike: Kubernetes may run out of time, the model may have no opinion."""
    return _judged(oracle, generate_clusters.generate_crowd(seed))


def _judged(oracle: Oracle, case: JSON) -> Finding:
    verdict = judge(oracle, case)
    if verdict.unexplained:
        verdict = judge(oracle, case, patient=True)
    if not verdict.unexplained:
        return Finding(verdict.kind)
    return Finding(verdict.kind, lambda: _cluster_report(oracle, case, verdict))


def _cluster_report(oracle: Oracle, case: JSON, verdict: Verdict) -> str:
    def still(smaller: JSON) -> bool:
        try:
            return judge(oracle, smaller).shape == verdict.shape
        except (OracleError, LookupError, ValueError):
            return False  # taking that away has made it no cluster any more

    small = shrink(case, still)
    return f"{judge(oracle, small)}\n{orjson.dumps(small).decode()}"


def expression(oracle: Oracle, seed: int) -> Finding:
    """One random expression over random devices, alone and over columns, with costs."""
    setting = _setting(seed)
    made, devices = generate_expressions.generate(seed, derived=setting.derived), generate_expressions.devices(seed)
    theirs, mine = _evaluations(oracle, made, devices, setting)
    found = differences(theirs, mine)
    if not found:
        return Finding(EQUAL)
    if "panic" in found:
        return Finding("Kubernetes panics")
    if _unstable(oracle, made, devices, setting, theirs):
        return Finding("Kubernetes varies")
    if found == ["letters"] and ".sub(" in str(made) and _LEAST in str(made):
        return Finding("Kubernetes' quantity wraps")
    if {*found} <= {"letters", "cost"} and "transformMapEntry" in str(made) and _fails_more(theirs, mine):
        return Finding("keys by identity")  # for Kubernetes two lists or maps are the same key only if one is the other
    if {*found} <= {"cost", "value"} and ".validate(" in str(made):
        return Finding("wording of formats")  # what a check of a format finds is text, which is ours, and has a size
    if found == ["letters"] and _READS_WORDING.search(str(made)):
        return Finding("wording of formats")
    return Finding(f"unexplained {found[0]}", lambda: _expression_report(oracle, made, devices, setting, found[0]))


def _setting(seed: int) -> Setting:
    """A third of the expressions are new ones, with some gates off; some derive attributes."""
    draw = Draw(f"setting {seed}")
    derived = draw.chance(0.15)
    if draw.chance(0.67):
        return replace(STORED, derived=derived)
    return Setting(True, draw.chance(0.5), draw.chance(0.5), derived)


def _fails_more(theirs: Evaluation, mine: Evaluation) -> bool:
    return "E" in mine.letters and all(
        one in (other, "E") for one, other in zip(mine.letters, theirs.letters, strict=True)
    )


def _evaluations(
    oracle: Oracle, made: Expression, devices: list[JSON], setting: Setting
) -> tuple[Evaluation, Evaluation]:
    theirs = compare_expressions.kubernetes(oracle, str(made), devices, setting)
    return theirs, compare_expressions.ours(str(made), devices, setting)


def _unstable(oracle: Oracle, made: Expression, devices: list[JSON], setting: Setting, first: Evaluation) -> bool:
    """Whether Kubernetes itself answers differently from run to run: Go's maps have a random order."""
    return any(compare_expressions.kubernetes(oracle, str(made), devices, setting) != first for _ in range(12))


def _expression_report(oracle: Oracle, made: Expression, devices: list[JSON], setting: Setting, kind: str) -> str:
    progress = True
    while progress:
        progress = False
        for smaller in sorted(made.smaller(), key=lambda one: len(str(one))):
            if len(str(smaller)) < len(str(made)) and kind in differences(
                *_evaluations(oracle, smaller, devices, setting)
            ):
                made, progress = smaller, True
                break
    theirs, mine = _evaluations(oracle, made, devices, setting)
    return (
        f"{made} ({setting})\n  Kubernetes: {theirs}\n  ours:       {mine}\n  devices: {orjson.dumps(devices).decode()}"
    )


def quantity(oracle: Oracle, seed: int) -> Finding:
    """A pair of random quantities and a pair of random versions."""
    found = quantity_difference(oracle, seed) or version_difference(oracle, seed)
    return Finding(EQUAL) if found is None else Finding("unexplained", lambda: found)


STUDIES: Mapping[str, Callable[[Oracle, int], Finding]] = {
    "clusters": cluster,
    "crowds": crowd,
    "expressions": expression,
    "quantities": quantity,
}
"""Name of a study to what it does with a seed."""
