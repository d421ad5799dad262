from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from dra_bench.oracle import compare, compare_expressions, generate_clusters, quantities, studies
from dra_bench.oracle.compare import Answer
from dra_bench.oracle.compare_expressions import Evaluation, differences
from dra_bench.oracle.process import Oracle

JSON = dict[str, Any]


class Fixed(Oracle):
    """Answers every question with the same."""

    def __init__(self, **answer: Any) -> None:
        self._answer = answer

    def ask(self, question: JSON) -> JSON:
        return self._answer


def answer(**device: Any) -> Answer:
    return compare._answer({"outcome": "results", "results": [{"devices": {"results": [device]}}]})


def test_answers_are_equal_whatever_is_absent_or_empty_and_however_amounts_are_written() -> None:
    amounts: list[dict[str, Any]] = [{"m": "1Ki"}, {"m": "1024"}, {"m": Fraction(1024)}]
    one, *others = [answer(device="a", consumedCapacity=amount, tolerations=[]) for amount in amounts]
    assert all(one.same(other) for other in others)
    assert not one.same(answer(device="a", consumedCapacity={"m": "1k"}))
    assert not one.same(answer(device="b", consumedCapacity={"m": "1Ki"}))


def test_error_texts_are_not_compared() -> None:
    assert Answer("error", detail="x").same(Answer("error", detail="y"))
    assert not Answer("error").same(Answer("none"))


def test_an_exception_of_our_allocator_is_the_outcome_crash() -> None:
    crashed = compare.ours({"node": {"metadata": {"name": "n"}}, "claimsToAllocate": 5})
    assert crashed.outcome == "crash"
    assert "Traceback" in crashed.detail


@pytest.mark.parametrize(
    ("theirs", "mine", "found"),
    [
        (Evaluation("TF", 5, (1, 2)), Evaluation("TF", 5, (1, 2), "TF"), []),
        (Evaluation("TE", 5, (1, None)), Evaluation("TF", 5, (1, 2), "TF"), ["letters"]),
        (Evaluation("TF", 5, (1, 2)), Evaluation("TF", 5, (1, 3), "TF"), ["cost"]),
        (Evaluation("TF", 5, (1, 2)), Evaluation("TF", 6, (1, 2), "TE"), ["columns", "estimate"]),
        (Evaluation("PP"), Evaluation("CC"), ["panic"]),
        (Evaluation("PT"), Evaluation("FT"), ["panic"]),
        (Evaluation("PT"), Evaluation("TF"), ["letters"]),
        (Evaluation("CC"), Evaluation("CC"), []),
        (Evaluation("EE", 5, (None, None)), Evaluation("XX", 5, (None, None), "EE"), ["letters", "columns"]),
    ],
)
def test_letters_columns_costs_and_estimates_are_told_apart(
    theirs: Evaluation, mine: Evaluation, found: list[str]
) -> None:
    assert differences(theirs, mine) == found


def test_a_panic_that_kubernetes_recovers_from_is_told_from_an_error() -> None:
    answer = Fixed(letters="EET", errors=["internal error: hash of unhashable type", "no such key: x", ""], maxCost=1)
    assert compare_expressions.kubernetes(answer, "x", [{}, {}, {}]).letters == "PET"


def test_our_evaluation_has_letters_alone_and_over_columns_and_costs() -> None:
    devices = [{"driver": "d", "attributes": {"x": {"int": 1}}}, {"driver": "d"}]
    mine = compare_expressions.ours('device.attributes["d"].x == 1', devices)
    assert (mine.letters, mine.columns) == ("TE", "TE")
    assert mine.costs[1] == 5
    assert compare_expressions.ours("1 +", devices).letters == "CC"


def test_what_kubernetes_reads_otherwise_is_said_with_the_text() -> None:
    refused = Fixed(error="no")
    texts = [quantities.quantity_difference(refused, seed) for seed in range(20)]
    assert any(text is not None and "Kubernetes refuses it: no" in text for text in texts)
    versions = [quantities.version_difference(refused, seed) for seed in range(40)]
    assert any(text is not None and "Kubernetes refuses it: no" in text for text in versions)


def test_decimals_of_kubernetes_are_read_exactly() -> None:
    assert (
        quantities._nanos("1339999999999999999999999999999999.000000001") == 1339999999999999999999999999999999000000001
    )


def test_an_attempt_of_ours_that_takes_too_long_is_said_to_be_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "OUR_SECONDS", 0.0)
    outcomes = {compare.ours(generate_clusters.generate(seed)).outcome for seed in range(10)}
    assert "too slow" in outcomes


def test_tolerations_are_compared_as_the_api_server_completes_them() -> None:
    assert answer(tolerations=[{"key": "x"}]).same(answer(tolerations=[{"key": "x", "operator": "Equal"}]))
    assert not answer(tolerations=[{"key": "x"}]).same(answer(tolerations=[{"key": "x", "operator": "Exists"}]))


def test_a_third_of_the_expressions_are_new_ones_with_any_gates_and_some_derive() -> None:
    settings = Counter(studies._setting(seed) for seed in range(300))
    assert 0.4 < settings[compare_expressions.STORED] / 300 < 0.7
    assert 20 < sum(count for setting, count in settings.items() if setting.derived) < 70


def test_derived_attributes_are_compared_too() -> None:
    devices: list[JSON] = [{"driver": "d", "attributes": {"x": {"ints": [2, 1]}}}]
    setting = compare_expressions.Setting(derived=True)
    text = 'device.attributes["d"].x'
    mine = compare_expressions.ours(text, devices, setting)
    assert (mine.letters, mine.values) == ("T", ('{"ints":[2,1]}',))
    said: JSON = {
        "letters": "T",
        "maxCost": mine.estimated,
        "actualCosts": [mine.costs[0]],
        "attributes": [{"ints": [2, 1]}],
    }
    assert not differences(compare_expressions.kubernetes(Fixed(**said), text, devices, setting), mine)
    said["attributes"] = [{"ints": [1, 2]}]
    assert differences(compare_expressions.kubernetes(Fixed(**said), text, devices, setting), mine) == ["value"]
