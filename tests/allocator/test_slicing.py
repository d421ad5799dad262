"""Contract 2: between two questions to the budget there is at most one evaluation of a selector, however dear."""

from __future__ import annotations

import pytest

from dra_allocator.masks import SelectorMasks
from dra_allocator.rejection import Rejection
from support.devices import DRIVER, Cluster, claim, device, request, resource_slice

DEAR = (
    f'device.attributes["{DRIVER}"].serial < 0 || '
    "lists.range(20).all(x, lists.range(20).all(y, lists.range(20).all(z, x + y + z >= 0))) && "
    f'device.attributes["{DRIVER}"].serial < 0'
)
"""False for every device, and each evaluation costs more than a call of `masks` may spend."""


class Gaps:
    """A budget that is always exhausted and counts the evaluations between two questions."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0

    def exhausted(self) -> bool:
        self.most, self.now = max(self.most, self.now), 0
        return True


@pytest.mark.parametrize("count", [1, 3])
def test_dear_selectors_are_evaluated_one_device_at_a_time(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = Gaps()
    evaluations = 0
    resolve = SelectorMasks.resolve

    def counted(masks: SelectorMasks, row: int) -> bool:
        nonlocal evaluations
        evaluations += 1
        gaps.now += 1
        return resolve(masks, row)

    monkeypatch.setattr(SelectorMasks, "resolve", counted)
    cluster = Cluster(resource_slice("s", [device(f"d{n}", serial=n) for n in range(40)], node="n1"))
    wanted = claim(request(count=count, selectors=(DEAR,)))
    attempt = cluster.allocator.allocate(cluster.view, [wanted], cluster.nodes)
    steps = 0
    while (outcome := attempt.step(gaps)) is None:
        steps += 1
    assert isinstance(outcome, Rejection)
    assert evaluations == 40
    assert max(gaps.most, gaps.now) <= 1
    assert steps >= 40
