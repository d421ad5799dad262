"""What holds for every test: flaky tests are named, and tests left out are counted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

from support.flaky import pytest_runtest_protocol, summary_lines

__all__ = ["pytest_runtest_protocol"]

LEFT_OUT = pytest.StashKey[int]()
WORKER_KEY = "cluster_tests_left_out"

# The machine may be busy with other things: how long one example takes says nothing about the code. In CI the same
# examples are drawn each time, so that green there means green anywhere; elsewhere every run draws others.
settings.register_profile("unhurried", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "unhurried")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = 0
    config.pluginmanager.register(LeftOut(config), "left-out")


class LeftOut:
    """Counts the cluster tests that were not selected, also in pytest-xdist's workers, which all see the same ones."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.config.stash[LEFT_OUT] += sum(item.get_closest_marker("cluster") is not None for item in items)

    def pytest_sessionfinish(self) -> None:
        output: dict[str, Any] | None = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[WORKER_KEY] = self.config.stash[LEFT_OUT]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        counted = getattr(node, "workeroutput", {}).get(WORKER_KEY, 0)
        self.config.stash[LEFT_OUT] = max(self.config.stash[LEFT_OUT], counted)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in summary_lines(report for reports in terminalreporter.stats.values() for report in reports):
            terminalreporter.write_line(line, yellow=True)
        left_out = self.config.stash[LEFT_OUT]
        if left_out:
            terminalreporter.write_line(f"left out: {left_out} cluster tests; make test-cluster runs them")
