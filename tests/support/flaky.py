"""One second chance for tests on the real control plane, and no secret made of it.

A test marked `cluster` that fails is run once more. If it then passes it counts as passed and is listed as flaky, with
the first failure, at the end of the run. Tests without the marker fail at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from _pytest.runner import runtestprotocol

FLAKY = "flaky"
"""Name of the user property that carries the first failure; reports travel between pytest-xdist's processes."""


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a `cluster` test, again if it failed; leave other tests to pytest."""
    if item.get_closest_marker("cluster") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    failure = next((report for report in reports if report.failed), None)
    if failure is not None:
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if not any(report.failed for report in reports):
            reports[-1].user_properties.append((FLAKY, failure.longreprtext))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def summary_lines(reports: Iterable[object]) -> Iterator[str]:
    """Return what to say about the flaky tests among everything that was reported."""
    for report in reports:
        if not isinstance(report, pytest.TestReport):
            continue
        for name, text in report.user_properties:
            if name == FLAKY:
                yield f"flaky: {report.nodeid}"
                yield from (f"    {line}" for line in str(text).splitlines())
