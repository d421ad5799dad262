from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dra_bench.controlplane.binaries import repository_root
from dra_bench.oracle.binary import oracle_path

PROGRAM = repository_root() / "tests" / "oracle" / "build.py"
FAKE_GO = """#!/bin/sh
if [ "$1" = env ]; then echo go1.99.0; exit; fi
echo "$@" >> "$GO_CALLS"
[ -n "$GO_FAILS" ] && exit 1
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
echo binary > "$out"; chmod +x "$out"
"""


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, with a Go of our own and a folder of its own."""
    go = tmp_path / "tools" / "go"
    go.parent.mkdir()
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("GO_FAILS", "")
    monkeypatch.setenv("DRA_CONTROLPLANE", str(tmp_path / "bin"))
    specification = importlib.util.spec_from_file_location("oracle_build", PROGRAM)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def calls(tmp_path: Path) -> list[str]:
    path = tmp_path / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_the_oracle_is_built_once_and_again_only_when_its_sources_change(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build.main() == 0
    assert oracle_path().read_text() == "binary\n"
    assert build.main() == 0
    assert len(calls(tmp_path)) == 1
    monkeypatch.setattr(build, "fingerprint", lambda: "other")
    assert build.main() == 0
    assert len(calls(tmp_path)) == 2


def test_a_build_that_fails_leaves_what_was_there_and_ends_with_code_1(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GO_FAILS", "yes")
    assert build.main() == 1
    assert not oracle_path().exists()
    assert "error:" in capsys.readouterr().err


def test_without_go_the_error_says_what_to_install(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.main() == 1
    assert "install Go 1.26" in capsys.readouterr().err


def test_every_source_file_decides_what_the_binary_is(build: ModuleType, tmp_path: Path) -> None:
    for name in ("go.mod", "go.sum", "main.go"):
        (tmp_path / name).write_text(name)
    before = build.fingerprint(tmp_path)
    (tmp_path / "main.go").write_text("changed")
    assert build.fingerprint(tmp_path) != before
