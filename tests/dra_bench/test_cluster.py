"""The control plane object with stand-ins for the binaries; the real ones are in tests/cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dra_bench.controlplane.binaries import BINARIES, Binaries, repository_root
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.errors import ComponentFailedError, ConfigurationError, PortConflictError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the control planes' own folders."""
    place = tmp_path / "planes"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def stand_ins(folder: Path, script: str) -> Binaries:
    for name in BINARIES:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return Binaries(folder)


def test_a_taken_port_means_starting_again_on_other_ports_but_not_for_ever(tmp_path: Path, place: Path) -> None:
    calls = tmp_path / "calls"
    binaries = stand_ins(tmp_path, f'echo "$2" >> {calls}; echo "bind: address already in use"; exit 1')
    plane = ControlPlane(binaries=binaries)
    with pytest.raises(PortConflictError, match="etcd ended with exit code 1"):
        plane.start()
    addresses = calls.read_text().splitlines()
    assert len(addresses) == len(set(addresses)) == 3
    assert list(place.iterdir()) == []


def test_any_other_end_is_not_tried_again(tmp_path: Path, place: Path) -> None:
    calls = tmp_path / "calls"
    plane = ControlPlane(binaries=stand_ins(tmp_path, f"echo call >> {calls}; echo 'no space left' >&2; exit 1"))
    with pytest.raises(ComponentFailedError, match=r"etcd ended with exit code 1(?s:.*)no space left"):
        plane.start()
    assert calls.read_text() == "call\n"
    assert list(place.iterdir()) == []


def test_before_the_start_there_are_no_users_and_no_components(tmp_path: Path) -> None:
    plane = ControlPlane(binaries=Binaries(tmp_path))
    plane.stop()
    with pytest.raises(ConfigurationError, match="no user 'admin' in this control plane; there are none before"):
        plane.kubeconfig("admin")
    with pytest.raises(ConfigurationError, match="no component 'etcd' in this control plane; there are none before"):
        plane.start_component("etcd")


@pytest.mark.parametrize(
    ("required", "outcome", "line"),
    [
        ("0", "1 skipped", "no control plane in /nonexistent: make controlplane builds it"),
        ("1", "1 error", "DRA_REQUIRE_CONTROLPLANE=1, but no control plane in /nonexistent: etcd, kube-apiserver"),
    ],
)
def test_cluster_tests_without_a_control_plane_are_skipped_unless_it_is_required(
    required: str, outcome: str, line: str
) -> None:
    environment = {**os.environ, "DRA_CONTROLPLANE": "/nonexistent", "DRA_REQUIRE_CONTROLPLANE": required}
    environment.pop("PYTEST_ADDOPTS", None)
    name = "tests/cluster/test_control_plane.py::test_it_asks_who_comes_and_whether_they_may"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "cluster", "-rs", "-p", "no:xdist", name],
        cwd=repository_root(),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in result.stdout
    assert line in result.stdout
