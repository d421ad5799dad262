"""What the tests that ask the oracle share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_bench.oracle.errors import OracleMissingError
from dra_bench.oracle.process import Oracle


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
    folder = os.environ.get("DRA_CONFORMANCE", "")
    if not folder:
        pytest.skip("DRA_CONFORMANCE does not name the folder of the conformance data")
    return json.loads((Path(folder) / name).read_text())
