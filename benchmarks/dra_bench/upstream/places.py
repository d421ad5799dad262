"""Where the test programs are, and which there are.

`tests/upstream/build.py` writes them, `dra-bench upstream` runs them. Standard library only: the build imports this
before anything is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dra_bench.controlplane.binaries import KUBERNETES_VERSION, repository_root

BUILD_COMMAND: Final = "make upstream"
PERFORMANCE_BUILD_COMMAND: Final = "make bench-upstream"

SUITES: Final = ("all", "default", "ga", "api")
"""Packages of Kubernetes' test/integration/dra, each one test program that brings up its own API server."""

PERFORMANCE: Final = (
    "dra",
    "dra/compatibilitygroups",
    "dra/consumablecapacity",
    "dra/devicetaints",
    "dra/extendedresource",
    "dra/extendedresource/scoring",
    "dra/listattributes",
    "dra/partitionabledevices",
    "dra/prioritizedlist",
    "dra/workloadresourceclaims",
)
"""Packages of test/integration/scheduler_perf with workloads; each runs in its own folder, which has its files."""


def upstream_folder() -> Path:
    """Return the folder that everything is built in; Git ignores it. It need not exist."""
    return repository_root() / ".upstream" / KUBERNETES_VERSION


def suite_program(suite: str) -> Path:
    """Return the test program of one of :data:`SUITES`."""
    return upstream_folder() / f"dra_{suite}.test"


def performance_program(package: str) -> Path:
    """Return the test program of one of :data:`PERFORMANCE`."""
    return upstream_folder() / f"perf_{package.replace('/', '_')}.test"


def performance_folder(package: str) -> Path:
    """Return the folder that a performance program is to be run in."""
    return upstream_folder() / "kubernetes" / "test" / "integration" / "scheduler_perf" / package
