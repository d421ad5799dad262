"""What the comparison with Kubernetes has found, kept as cases that need no Kubernetes.

`bug-NN.json`: clusters on which Kubernetes 1.37.2 is wrong, with the right outcome (and what Kubernetes says);
`clusters.json`: clusters on which we were wrong; `expressions.json`: random expressions with Kubernetes' letters.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_bench.conformance.case import Case
from dra_bench.conformance.case_file import read_cases

FOLDER = Path(__file__).resolve().parents[1] / "oracle" / "cases"
CASES = [(path.stem, case) for path in sorted(FOLDER.glob("*.json")) for case in read_cases(path)]
CLUSTERS = [pytest.param(case, id=f"{stem}: {case.name}") for stem, case in CASES if stem != "expressions"]
EXPRESSIONS = [case for stem, case in CASES if stem == "expressions"]


@pytest.mark.parametrize("case", CLUSTERS)
def test_the_outcome_is_the_right_one(case: Case) -> None:
    assert case.differences(case.run()) == []


def test_every_expression_gives_kubernetes_letters() -> None:
    wrong = {case.name: found for case in EXPRESSIONS if (found := case.differences(case.run()))}
    assert wrong == {}
    assert len(EXPRESSIONS) >= 400
