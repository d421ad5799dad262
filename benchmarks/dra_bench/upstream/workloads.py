"""The workloads of Kubernetes' scheduler_perf for DRA that are labelled `performance` and schedule pods."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from dra_bench.upstream.errors import NotBuiltError
from dra_bench.upstream.places import (
    PERFORMANCE,
    PERFORMANCE_BUILD_COMMAND,
    performance_folder,
    performance_program,
    upstream_folder,
)

NO_PODS = frozenset({"PublishResourceSlices"})
"""Tests that schedule no pods, and so measure nothing of a scheduler."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload: the package it is in, its test, its name in it."""

    package: str
    test: str
    name: str

    def __str__(self) -> str:
        return f"{self.package}/{self.test}/{self.name}"

    @property
    def program(self) -> Path:
        """The program that runs it."""
        return performance_program(self.package)

    @property
    def folder(self) -> Path:
        """The folder to run it in."""
        return performance_folder(self.package)

    @property
    def pattern(self) -> str:
        """The value of -test.bench that runs it and nothing else."""
        return f"^BenchmarkPerfScheduling$/^{self.test}$/^{self.name}$"


def workloads() -> list[Workload]:
    """Return all of them, from Kubernetes' own files. Raises NotBuiltError."""
    found = []
    for package in PERFORMANCE:
        path = performance_folder(package) / "performance-config.yaml"
        if not path.is_file():
            raise NotBuiltError(str(upstream_folder() / "kubernetes"), PERFORMANCE_BUILD_COMMAND)
        for test in yaml.safe_load(path.read_text()):
            found += [
                Workload(package, test["name"], one["name"])
                for one in test["workloads"]
                if "performance" in one.get("labels", ()) and test["name"] not in NO_PODS
            ]
    return found
