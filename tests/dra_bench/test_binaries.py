from __future__ import annotations

from pathlib import Path

import pytest

from dra_bench.controlplane.binaries import (
    BINARIES,
    KUBERNETES_VERSION,
    binary_folder,
    find_binaries,
    missing_binaries,
    repository_root,
)
from dra_bench.controlplane.errors import BinariesMissingError


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    for name in BINARIES:
        (tmp_path / name).touch(0o755)
    return tmp_path


def test_binaries_lie_in_the_checkout_under_their_version() -> None:
    assert binary_folder({}) == repository_root() / ".controlplane" / KUBERNETES_VERSION / "bin"
    assert (repository_root() / "pyproject.toml").is_file()


def test_the_environment_overrides_the_folder(tmp_path: Path) -> None:
    assert binary_folder({"DRA_CONTROLPLANE": str(tmp_path)}) == tmp_path
    assert binary_folder({"DRA_CONTROLPLANE": "elsewhere"}) == Path.cwd() / "elsewhere"
    assert binary_folder({"DRA_CONTROLPLANE": ""}) == binary_folder({})


def test_a_complete_folder_is_found(complete: Path) -> None:
    assert find_binaries(complete).path("etcd") == complete / "etcd"


def test_what_is_missing_is_named_with_the_command_that_builds_it(complete: Path) -> None:
    (complete / "etcd").unlink()
    (complete / "kubectl").chmod(0o644)
    assert missing_binaries(complete) == ("etcd", "kubectl")
    with pytest.raises(BinariesMissingError, match=r"etcd, kubectl missing; run `make controlplane`"):
        find_binaries(complete)
