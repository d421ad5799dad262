from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dra_bench.controlplane.binaries import BINARIES, KUBERNETES_VERSION, repository_root

PROGRAM = repository_root() / "tests" / "controlplane" / "build.py"
FAKE_GO = """#!/bin/sh
if [ "$1" = env ]; then echo {version}; exit; fi
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; last=$2; shift; done
echo "$last" >> "$GO_CALLS"
[ "$last" = "$GO_FAILS_ON" ] && {{ echo "no such symbol" >&2; exit 1; }}
echo binary > "$out"; chmod +x "$out"
"""


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    specification = importlib.util.spec_from_file_location("controlplane_build", PROGRAM)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRA_CONTROLPLANE", str(tmp_path / "bin"))
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("GO_FAILS_ON", "")
    return tmp_path / "bin"


def install_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    place = tmp_path / "go"
    place.mkdir()
    (place / "go").write_text(FAKE_GO.format(version=version))
    (place / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")


def test_everything_is_built_once_and_then_up_to_date(
    build: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_go(tmp_path, monkeypatch, "go1.26.8")
    assert build.main() == 0
    assert sorted(path.name for path in folder.iterdir() if path.name != build.STAMP) == sorted(BINARIES)
    assert "[5/5] kubectl: " in capsys.readouterr().out
    assert build.main() == 0
    assert "up to date" in capsys.readouterr().out
    assert (tmp_path / "calls").read_text().splitlines() == list(build.PACKAGES.values())


def test_changed_pins_or_a_lost_binary_mean_building_again(
    build: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_go(tmp_path, monkeypatch, "go1.26.8")
    build.build_all(folder)
    (folder / "etcd").unlink()
    build.build_all(folder)
    monkeypatch.setattr(build, "fingerprint", lambda: "other pins")
    build.build_all(folder)
    assert len((tmp_path / "calls").read_text().splitlines()) == 3 * len(BINARIES)


def test_a_failed_build_names_the_binary_and_leaves_nothing_that_looks_finished(
    build: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_go(tmp_path, monkeypatch, "go1.26.8")
    monkeypatch.setenv("GO_FAILS_ON", build.PACKAGES["kube-scheduler"])
    assert build.main() == 1
    assert "building kube-scheduler failed with exit code 1" in capsys.readouterr().err
    assert not build.is_current(folder, build.fingerprint())


def test_go_that_is_missing_is_named_with_the_version_to_install(
    build: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert build.main() == 1
    assert "Go is not installed (no `go` in PATH): install Go 1.26.0 or newer" in capsys.readouterr().err
    assert not folder.exists()


def test_go_that_is_too_old_is_named_with_its_version(
    build: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_go(tmp_path, monkeypatch, "go1.25.9")
    assert build.main() == 1
    assert "is go1.25.9, too old: install Go 1.26.0 or newer" in capsys.readouterr().err


def test_binaries_from_elsewhere_are_not_overwritten(
    build: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir()
    (folder / "etcd").write_text("somebody's")
    assert build.main() == 1
    assert "holds etcd not built by this program; they are left alone" in capsys.readouterr().err
    assert (folder / "etcd").read_text() == "somebody's"


def test_the_code_and_the_pins_name_the_same_version(build: ModuleType) -> None:
    assert build.pinned_version() == KUBERNETES_VERSION


def test_versions_compare_as_numbers(build: ModuleType) -> None:
    assert build.version_of("go1.26.8") == (1, 26, 8)
    assert build.version_of("go1.27rc1") == (1, 27, 0)
    assert build.version_of("1.9") < build.version_of("1.26.0")
