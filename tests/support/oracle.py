"""What the tests that ask the oracle share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from dra_bench.oracle.errors import OracleMissingError
from dra_bench.oracle.process import Oracle
from support.conformance import NO_CONFORMANCE, load


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """The built oracle; without it tests are skipped, or fail where DRA_REQUIRE_ORACLE=1 demands it."""
    try:
        process = Oracle()
    except OracleMissingError as error:
        if os.environ.get("DRA_REQUIRE_ORACLE") == "1":
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
    with process:
        yield process


def conformance_cases(name: str) -> Any:
    """A file of the folder in DRA_CONFORMANCE; the test is skipped where there is none."""
    cases = load(name)
    if cases is None:
        pytest.skip(NO_CONFORMANCE)
    return cases
