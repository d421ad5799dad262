"""The real control plane for the contract tests: every version of resource.k8s.io, PodGroups, and nothing throttled."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from dra_bench.controlplane.binaries import binary_folder, find_binaries
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.errors import BinariesMissingError
from dra_bench.controlplane.flags import THROUGHPUT, Options

REQUIRED = "DRA_REQUIRE_CONTROLPLANE"
VERSIONS = {"resource.k8s.io/v1beta1": True, "resource.k8s.io/v1beta2": True, "scheduling.k8s.io/v1beta1": True}
GATES = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """Started once; without binaries the tests are skipped, or fail when they have to run."""
    try:
        find_binaries()
    except BinariesMissingError as error:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, but {error}", pytrace=False)
        pytest.skip(f"no control plane in {binary_folder()}: make controlplane builds it")
    with ControlPlane(Options(profile=THROUGHPUT, runtime_config=VERSIONS, feature_gates=GATES)) as plane:
        yield plane
