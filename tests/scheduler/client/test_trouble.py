from __future__ import annotations

import logging

import pytest

from dra_api.references import NODE, POD, RESOURCE_SLICE
from dra_api.transport import TransportError
from dra_scheduler.client.errors import ApiStatusError, ForbiddenError, UnauthorizedError
from dra_scheduler.client.trouble import STARTING, TroubleLog


class Time:
    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> None:
        raise AssertionError


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def trouble(time: Time, caplog: pytest.LogCaptureFixture) -> TroubleLog:
    caplog.set_level(logging.INFO)
    return TroubleLog(time)  # type: ignore[arg-type]


DOWN = TransportError("refused", sent=False)
FORBIDDEN = ForbiddenError(403, "Forbidden", "cannot list")


def test_a_server_that_is_down_is_one_line_for_all_kinds_until_all_are_back(
    trouble: TroubleLog, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        trouble.report(POD, DOWN)
        trouble.report(NODE, DOWN)
    assert trouble.current == ["unreachable"]
    time.seconds = 5
    trouble.recovered(POD)
    assert trouble.current == ["unreachable"]
    trouble.recovered(NODE)
    trouble.recovered(NODE)
    assert trouble.current == []
    assert len(caplog.records) == 2
    assert caplog.records[1].getMessage() == "trouble ended trouble='unreachable' seconds=5.0"


def test_a_missing_rule_is_named_for_each_kind_by_itself(trouble: TroubleLog, caplog: pytest.LogCaptureFixture) -> None:
    trouble.report(POD, FORBIDDEN)
    trouble.report(RESOURCE_SLICE, FORBIDDEN)
    trouble.report(POD, FORBIDDEN)
    assert trouble.current == ["forbidden pods", "forbidden resourceslices.resource.k8s.io"]
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert "apiGroups=[''] resources=['pods'] verbs=['get', 'list', 'watch']" in caplog.text


def test_a_server_that_has_just_come_back_is_not_believed_that_rules_are_missing(
    trouble: TroubleLog, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    for resource in (POD, NODE):
        trouble.report(resource, DOWN)
    trouble.report(POD, FORBIDDEN)
    trouble.report(NODE, FORBIDDEN)
    trouble.recovered(POD)
    trouble.recovered(NODE)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    trouble.report(POD, FORBIDDEN)
    time.seconds = STARTING
    trouble.report(POD, FORBIDDEN)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO", "ERROR"]


def test_another_trouble_takes_the_place_of_the_first(trouble: TroubleLog) -> None:
    trouble.report(POD, DOWN)
    trouble.report(POD, UnauthorizedError(401, "Unauthorized", "Unauthorized"))
    assert trouble.current == ["unauthorized"]
    trouble.report(POD, ApiStatusError(500, "InternalError", "oops"))
    assert trouble.current == ["500 pods"]


def test_a_rejected_token_says_what_to_do(trouble: TroubleLog, caplog: pytest.LogCaptureFixture) -> None:
    trouble.report(POD, UnauthorizedError(401, "Unauthorized", "Unauthorized"))
    assert "rejects our credentials" in caplog.text
    assert "renew the token or certificate" in caplog.text
