"""Races on the real control plane: what is computed without one."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from rich.console import Console

from dra_api.decode import resource_slice
from dra_bench.cluster import contestant, show
from dra_bench.cluster.ceiling import devices
from dra_bench.cluster.errors import RaceError
from dra_bench.cluster.inventory import Course, is_other
from dra_bench.cluster.race import double_allocations
from dra_bench.cluster.row import KEYS, Row, ratio
from dra_bench.cluster.writes import changes
from dra_bench.main import main

METRICS = """# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",resource="pods",subresource="binding",verb="POST"} 7
apiserver_request_total{code="409",component="apiserver",resource="resourceclaims",subresource="status",verb="PATCH"} 2
apiserver_request_total{code="200",component="apiserver",resource="leases",subresource="",verb="PUT"} 50
apiserver_request_total{code="200",component="apiserver",resource="pods",subresource="",verb="LIST"} 9
apiserver_request_duration_seconds_count{verb="POST"} 3
"""


def row(scheduler: str, rate: float, number: int, double: int = 0) -> Row:
    return Row(scheduler, 500, 10, False, 2500, rate, 4.0, double, number)


ROWS = [row("ours", 100, 1), row("kube-scheduler", 50, 1), row("ours", 150, 2), row("kube-scheduler", 50, 2)]


def claim(device: str) -> dict[str, Any]:
    results = [{"driver": "d", "pool": "p", "device": device}]
    return {"status": {"allocation": {"devices": {"results": results}}}}


def test_a_row_has_the_documented_keys() -> None:
    assert KEYS == (
        "scheduler",
        "nodes",
        "devices",
        "selector",
        "pods",
        "pods_per_s",
        "writes_per_pod",
        "double_allocations",
        "round",
    )
    assert tuple(row("ours", 1, 1).as_json()) == KEYS


def test_ratios_are_taken_within_rounds() -> None:
    found = ratio(ROWS, "ours", "kube-scheduler")
    assert found is not None
    assert (found.median, found.low, found.high) == (2.5, 2.0, 3.0)
    assert ratio(ROWS, "ours", "ceiling") is None


def test_the_table_says_who_ran_and_how_they_compare() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(show.rates(ROWS))
    text = console.export_text()
    assert "500 nodes x 10 devices, 2500 pods, plain class" in text
    assert "125.0 (100.0-150.0)" in text
    assert "2.50 (2.00-3.00)" in text


def test_writes_are_all_requests_that_change_something_but_leases() -> None:
    assert changes(METRICS) == 9


def test_a_device_of_two_claims_is_a_double_allocation() -> None:
    assert double_allocations([claim("a"), claim("b"), {}]) == 0
    assert double_allocations([claim("a"), claim("b"), claim("a"), claim("a")]) == 1


@pytest.mark.parametrize("selector", [False, True])
def test_the_ceiling_has_a_device_for_each_pod_that_fits(selector: bool) -> None:
    course = Course(3, 8, 24 - 6 * selector, selector)
    course.check()
    found = list(devices(3, 8, selector=selector))
    assert len(set(found)) == len(found) == course.pods
    assert not any(selector and is_other(int(device.rpartition("-")[2])) for _, device in found)
    with pytest.raises(RaceError, match="do not fit"):
        Course(3, 8, course.pods + 1, selector).check()


def test_what_is_raced_on_can_be_read() -> None:
    slices = [obj for path, obj in Course(2, 4, 1).objects() if path.endswith("resourceslices")]
    assert [len(resource_slice(obj).devices) for obj in slices] == [4, 4]


def test_other_commands_can_take_part() -> None:
    found = contestant.external("mine=my-scheduler --fast")
    assert (found.name, found.scheduler_name) == ("mine", "mine")
    with pytest.raises(RaceError, match="NAME=COMMAND"):
        contestant.external("my-scheduler")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--peers", "theirs"], "there is no peer 'theirs'"),
        (["--peers", ""], "nobody takes part"),
        (["--pods", "2000"], "2000 pods do not fit"),
        (["--open-loop", "-1"], "the rate must be above 0"),
    ],
)
def test_bad_usage_is_told_before_anything_is_started(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", *arguments]) == 2
    assert text in capsys.readouterr().err


def test_rows_are_json() -> None:
    assert orjson.loads(orjson.dumps(row("ours", 1.5, 1).as_json()))["pods_per_s"] == 1.5
