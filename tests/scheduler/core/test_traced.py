"""Which nodes fell out for which reason."""

from __future__ import annotations

import numpy as np

from dra_scheduler.cycle.traced import TracedDiagnosis
from support.known import known_cluster, some_nodes


def test_knows_the_nodes_of_each_reason_and_counts_as_the_diagnosis_does() -> None:
    table = known_cluster(some_nodes(4)).nodes
    traced = TracedDiagnosis(table)
    rows = np.zeros((3, table.rows), np.bool_)
    numbers = [table.row(f"n{number}") for number in range(4)]
    rows[0, numbers[0]] = True
    rows[1, numbers[:2]] = True
    rows[2, numbers[1:3]] = True
    traced.drop("NodeAffinity", rows[0], "away")
    traced.drop_each("NodeResourcesFit", [("cpu", rows[1]), ("memory", rows[2])], np.zeros(table.rows, np.bool_))
    everywhere = np.ones(table.rows, np.bool_)
    assert traced.among(everywhere) == {"away": 1, "cpu": 1, "memory": 2} == dict(traced.counts)
    assert traced.among(rows[0]) == {"away": 1}
    assert traced.among(everywhere, ignore=("away",)) == {"cpu": 1, "memory": 2}
    assert np.flatnonzero(traced.left).tolist() == [numbers[3]]
