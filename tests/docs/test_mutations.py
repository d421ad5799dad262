"""The changes that `make mutate` makes on purpose still fit the code, and name tests that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tools import tool

mutate = tool("mutate")

PATCHES = sorted(mutate.FOLDER.glob("*.patch"))


def test_there_are_at_least_ten() -> None:
    assert len(PATCHES) >= 10


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_a_change_on_purpose_applies_and_names_its_tests(path: Path) -> None:
    mutation = mutate.read(path)
    assert mutate.apply(path, mutate.ROOT, "--check") == ""
    assert mutation.breaks
    for test in mutation.tests:
        assert (mutate.ROOT / test).is_file(), f"{path.name} names {test}"


def test_a_patch_without_its_first_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.patch"
    path.write_text("--- a/x\n+++ b/x\n")
    with pytest.raises(ValueError, match="Breaks"):
        mutate.read(path)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of one module, one test and one patch."""
    for name in (*mutate.SOURCES, "manifests"):
        (tmp_path / "root" / name).mkdir(parents=True)
    root = tmp_path / "root"
    (root / "cel" / "answer.py").write_text("ANSWER = 42\n")
    (root / "tests" / "test_answer.py").write_text(
        "from answer import ANSWER\n\n\ndef test_answer() -> None:\n    assert ANSWER == 42\n"
    )
    (root / "tests" / "mutations").mkdir()
    patch = "Breaks: the answer\nTests: tests/test_answer.py\n\n--- a/cel/answer.py\n+++ b/cel/answer.py\n"
    (root / "tests" / "mutations" / "answer.patch").write_text(patch + "@@ -1 +1 @@\n-ANSWER = 42\n+ANSWER = 41\n")
    monkeypatch.setattr(mutate, "ROOT", root)
    monkeypatch.setattr(mutate, "FOLDER", root / "tests" / "mutations")
    monkeypatch.setattr("sys.argv", ["mutate.py"])
    # The tests of the small tree need no plugin but the one whose option is given; each import is paid five times.
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["tests"]\n')
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "_hypothesis_pytestplugin")
    return root


def test_a_change_that_tests_notice_passes_and_leaves_the_tree_as_it_is(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mutate.main() == 0
    assert "1 of 1 changes noticed" in capsys.readouterr().out
    assert (small / "cel" / "answer.py").read_text() == "ANSWER = 42\n"


def test_a_change_that_no_test_notices_fails(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "tests" / "test_answer.py").write_text("def test_nothing() -> None:\n    pass\n")
    assert mutate.main() == 1
    assert "SURVIVED answer" in capsys.readouterr().out


def test_a_patch_that_does_not_fit_fails(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "cel" / "answer.py").write_text("ANSWER = 6 * 7\n")
    assert mutate.main() == 1
    assert "DOES NOT APPLY answer" in capsys.readouterr().out


def test_tests_that_fail_anyway_prove_nothing(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "tests" / "test_answer.py").write_text("def test_wrong() -> None:\n    assert not 1\n")
    assert mutate.main() == 1
    assert "fail without any change" in capsys.readouterr().out
