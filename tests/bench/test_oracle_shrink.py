from __future__ import annotations

from typing import Any

from dra_bench.oracle import generate_clusters
from dra_bench.oracle.shrink import shrink

JSON = dict[str, Any]


def devices(case: JSON) -> list[JSON]:
    return [device for one in case["slices"] for device in one["spec"].get("devices", ())]


def test_what_the_condition_does_not_need_goes_away() -> None:
    case = generate_clusters.generate(3)
    assert len(devices(case)) > 1
    small = shrink(case, lambda smaller: len(devices(smaller)) >= 1)
    assert len(devices(small)) == 1
    assert devices(small)[0].keys() <= {"name", "nodeName", "allNodes", "nodeSelector"}
    assert [len(claim["spec"]["devices"]["requests"]) for claim in small["claimsToAllocate"]] == [1]
    assert not any(small["features"].values())


def test_a_pool_that_loses_a_slice_stays_complete() -> None:
    case = next(c for c in map(generate_clusters.generate, range(100)) if complete(c) and len(c["slices"]) > 3)
    small = shrink(case, lambda smaller: len(smaller["slices"]) >= 1 and complete(smaller))
    assert len(small["slices"]) == 1


def complete(case: JSON) -> bool:
    keys = [(s["spec"]["driver"], str(s["spec"]["pool"])) for s in case["slices"]]
    return all(
        s["spec"]["pool"]["resourceSliceCount"] == keys.count(k) for s, k in zip(case["slices"], keys, strict=True)
    )


def test_the_case_that_was_given_is_left_alone_and_the_number_of_questions_is_bounded() -> None:
    case = generate_clusters.generate(5)
    before = str(case)
    asked = []
    shrink(case, lambda smaller: bool(asked.append(1)), most=50)
    assert str(case) == before
    assert len(asked) <= 50
