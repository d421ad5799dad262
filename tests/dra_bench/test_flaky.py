from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
SUPPORT = Path(__file__).parents[1]

TESTS = """
import pytest

runs = []

@pytest.fixture
def resource():
    runs.append("set up")
    yield
    runs.append("torn down")

@pytest.mark.cluster
def test_fails_once(resource):
    runs.append("run")
    assert runs.count("run") > 1, "the first try"

def test_got_a_fresh_fixture():
    assert runs == ["set up", "run", "torn down", "set up", "run", "torn down"]

@pytest.mark.cluster
def test_fails_always():
    raise RuntimeError("broken")

def test_not_on_the_control_plane_fails_once():
    runs.append("plain")
    assert runs.count("plain") > 1

@pytest.fixture(scope="session")
def failing():
    runs.append("failing")
    raise RuntimeError("no such thing")

@pytest.mark.cluster
def test_needs_what_fails(failing):
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini(f"[pytest]\npythonpath = {SUPPORT}\nmarkers = cluster: needs one\naddopts = -p no:asyncio\n")
    pytester.makeconftest((SUPPORT / "conftest.py").read_text())
    return pytester


def test_a_failed_cluster_test_is_run_again_and_named(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS)
    result = project.runpytest_inprocess()
    result.assert_outcomes(passed=2, failed=2, errors=1)
    result.stdout.fnmatch_lines(["flaky: *::test_fails_once", "    *the first try*"])
    result.stdout.no_fnmatch_line("flaky: *test_fails_always")
    result.stdout.no_fnmatch_line("flaky: *test_not_on_the_control_plane*")


def test_cluster_tests_left_out_are_counted(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS)
    result = project.runpytest_inprocess("-m", "not cluster", "-k", "fresh")
    result.stdout.fnmatch_lines(["left out: 3 cluster tests; make test-cluster runs them"])


def test_nothing_is_said_when_nothing_is_left_out(project: pytest.Pytester) -> None:
    project.makepyfile("def test_fine(): pass")
    project.runpytest_inprocess().stdout.no_fnmatch_line("left out*")


def test_workers_tell_what_they_left_out_and_what_was_flaky(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS)
    result = project.runpytest_subprocess("-n", "1", "-k", "fails_once")
    result.stdout.fnmatch_lines(["flaky: *::test_fails_once", "left out: 2 cluster tests; make test-cluster runs them"])
