"""Lint over texts, for tests."""

from __future__ import annotations

from collections.abc import Mapping

from dra_api.manifests import merge, read_text
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.lint.linter import Report, lint


def report_on(*texts: str, gates: Mapping[str, bool] | None = None, minor: int = NEWEST_MINOR) -> Report:
    """Lint texts, each as a file of its own: `0.yaml`, `1.yaml`, ..."""
    read = merge([read_text(text.encode(), f"{i}.yaml") for i, text in enumerate(texts)])
    return lint(read, FeatureGates.of(gates or {}, minor), minor)


def names(report: Report) -> list[str]:
    """The names of the findings, in their order."""
    return [finding.name for finding in report.findings]
