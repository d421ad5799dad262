"""The real control plane for the tests in this folder: started once, one fresh namespace for each test."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from dra_bench.controlplane.binaries import binary_folder, find_binaries
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.cluster import ControlPlane, rbac_manifest
from dra_bench.controlplane.errors import BinariesMissingError
from dra_bench.controlplane.flags import Options
from dra_scheduler.client.connection import connect
from dra_scheduler.client.http_transport import HttpTransport
from support.wall_clock import WallClock

HERE = Path(__file__).parent
REQUIRED = "DRA_REQUIRE_CONTROLPLANE"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test in this folder, before pytest looks at the markers."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def control_plane_binaries() -> None:
    """Skip when there is no control plane, or fail when there has to be one."""
    try:
        find_binaries()
    except BinariesMissingError as error:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, but {error}", pytrace=False)
        pytest.skip(f"no control plane in {binary_folder()}: make controlplane builds it")


@pytest.fixture(scope="session")
def control_plane(control_plane_binaries: None) -> Iterator[ControlPlane]:
    """The control plane that the tests share: default flags, RBAC, our own role applied, no kube-scheduler."""
    with ControlPlane(Options(manifests=(rbac_manifest(),))) as plane:
        yield plane


@pytest.fixture
def admin(control_plane: ControlPlane) -> Client:
    """A client that may do anything."""
    return control_plane.client("admin")


@pytest.fixture
async def admin_transport(control_plane: ControlPlane) -> AsyncIterator[HttpTransport]:
    """The product's own way to the API server, as admin."""
    async with await connect(str(control_plane.kubeconfig("admin")), None, WallClock()) as transport:
        yield transport


@pytest.fixture
async def scheduler_transport(control_plane: ControlPlane) -> AsyncIterator[HttpTransport]:
    """The same under the rights of manifests/rbac.yaml."""
    async with await connect(str(control_plane.kubeconfig("dra-scheduler")), None, WallClock()) as transport:
        yield transport


@pytest.fixture
def namespace(admin: Client) -> Iterator[str]:
    """The name of a namespace of the test's own."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    created = admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert created.status == 201, created.message
    yield name
    admin.request("DELETE", f"/api/v1/namespaces/{name}")
