"""Kubernetes' own tests: what their programs print, what of it is expected, how they are run and built."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dra_bench.controlplane.binaries import repository_root
from dra_bench.main import main
from dra_bench.upstream import bench_command, command, expected, places, throughput, workloads
from dra_bench.upstream.errors import NotBuiltError, ResultsError
from dra_bench.upstream.program import Program, our_scheduler
from dra_bench.upstream.results import Results
from dra_bench.upstream.rounds import Rounds
from dra_bench.upstream.test_output import Ended, TestOutput, leaves

OUTPUT = """\
=== RUN   TestDRA
=== RUN   TestDRA/all
=== RUN   TestDRA/all/Pod
=== PAUSE TestDRA/all/Pod
=== RUN   TestDRA/all/FilterTimeout
=== RUN   TestDRA/all/FilterTimeout/enabled
=== CONT  TestDRA/all/Pod
    core.go:1: --- FAIL: not a result
=== RUN   TestDRA/all/Hangs
--- FAIL: TestDRA (9.00s)
    --- FAIL: TestDRA/all (8.50s)
        --- PASS: TestDRA/all/Pod (0.25s)
        --- FAIL: TestDRA/all/FilterTimeout (1.00s)
            --- FAIL: TestDRA/all/FilterTimeout/enabled (1.00s)
FAIL
"""


def read(text: str) -> dict[str, Ended]:
    output = TestOutput()
    for line in text.splitlines():
        output.line(line)
    return output.finish()


def outcomes(text: str) -> dict[str, str]:
    return {name: test.outcome for name, test in read(text).items()}


def test_results_are_read_off_the_output_and_tests_that_never_ended_are_lost() -> None:
    assert outcomes(OUTPUT) == {
        "TestDRA": "fail",
        "TestDRA/all": "fail",
        "TestDRA/all/Pod": "pass",
        "TestDRA/all/FilterTimeout": "fail",
        "TestDRA/all/FilterTimeout/enabled": "fail",
        "TestDRA/all/Hangs": "lost",
    }
    assert read(OUTPUT)["TestDRA/all/Pod"].seconds == 0.25


def test_only_tests_without_tests_in_them_are_counted() -> None:
    assert leaves(set(outcomes(OUTPUT))) == {
        "TestDRA/all/Pod",
        "TestDRA/all/FilterTimeout/enabled",
        "TestDRA/all/Hangs",
    }


def test_an_expected_failure_excuses_itself_and_the_tests_around_it_and_nothing_else() -> None:
    assert expected.unexpected(outcomes(OUTPUT)) == ["TestDRA/all/Hangs"]
    assert expected.unexpected({"TestDRA": "fail", "TestDRA/all": "fail", "TestDRA/all/Pod": "pass"}) == ["TestDRA/all"]
    assert expected.unexpected({"TestDRA/all/FilterTimeout/disabled": "fail"}) == ["TestDRA/all/FilterTimeout/disabled"]


def test_each_expected_failure_has_a_reason() -> None:
    assert all(len(why) > 40 for why in expected.EXPECTED.values())


@pytest.mark.parametrize(
    ("run", "pattern"),
    [
        (None, ()),
        ("Admin", ("-test.run=^TestDRA$/.*/Admin",)),
        ("Admin|Pod/x", ("-test.run=^TestDRA$/.*/Admin|^TestDRA$/.*/Pod/x",)),
        ("(Admin|Pod)Access", ("-test.run=^TestDRA$/.*/(Admin|Pod)Access",)),
        ("TestDRA/GA/.*", ("-test.run=TestDRA/GA/.*",)),
    ],
)
def test_a_pattern_names_tests_below_the_suite_or_whole_names(run: str | None, pattern: tuple[str, ...]) -> None:
    assert command.patterns(run) == pattern


def test_a_few_failures_are_repeated_once_and_said_to_be_flaky_if_they_pass() -> None:
    first = read(OUTPUT)
    assert command.repeatable(first) == ["Hangs"]
    second = {"TestDRA/all/Hangs": Ended("TestDRA/all/Hangs", "pass", 1.0)}
    assert command.flaky(first, second) == ["TestDRA/all/Hangs"]
    assert command.flaky(first, {}) == []


def test_many_failures_are_not_repeated() -> None:
    many = {f"TestDRA/all/T{number}": Ended(f"TestDRA/all/T{number}", "fail", 1.0) for number in range(5)}
    assert command.repeatable(many) == []
    assert command.repeatable({}) == []


def test_tests_can_be_left_out() -> None:
    assert command.patterns("Pod", "Pod/x|Slow") == (
        "-test.run=^TestDRA$/.*/Pod",
        "-test.skip=^TestDRA$/.*/Pod/x|^TestDRA$/.*/Slow",
    )


def test_results_of_a_part_are_added_and_results_of_the_whole_replace_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    Results(path).take(
        "all", "ours", [Ended("T/a", "fail", 1), Ended("T/b", "pass", 2)], "2026-01-01", "c1", whole=True
    )
    Results(path).take("all", "reference", [Ended("T/a", "pass", 1)], "2026-01-02", "c1", whole=True)
    Results(path).take("all", "ours", [Ended("T/a", "pass", 3)], "2026-01-03", "c2", whole=False)
    found = Results(path).suites["all"]
    assert {test: {who: one.outcome for who, one in each.items()} for test, each in found.items()} == {
        "T/a": {"ours": "pass", "reference": "pass"},
        "T/b": {"ours": "pass"},
    }
    Results(path).take("all", "ours", [Ended("T/c", "pass", 3)], "2026-01-04", "c3", whole=True)
    assert {test: set(each) for test, each in Results(path).suites["all"].items()} == {
        "T/a": {"reference"},
        "T/c": {"ours"},
    }


def test_a_broken_file_of_results_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"kubernetes": "1.37.2", "suites": 3}')
    with pytest.raises(ResultsError, match=r"results\.json is no file of results"):
        Results(path)


# Running


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A test program that starts what it is told to, and hangs if it is told to."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"):
        (binaries / name).write_text("#!/bin/sh\n")
        (binaries / name).chmod(0o755)
    monkeypatch.setenv("DRA_CONTROLPLANE", str(binaries))
    path = tmp_path / "dra_all.test"
    path.write_text(
        '#!/bin/sh\necho "=== RUN   TestDRA/all/X"\n'
        'if [ -n "$EXTERNAL_SCHEDULER" ]; then\n'
        '  setsid sleep 60 >/dev/null 2>&1 & echo $! > "$EXTERNAL_SCHEDULER_LOGS/x.pid"\n'
        '  echo "        --- PASS: TestDRA/all/X (0.10s)"; echo "scheduler $!"; exit 0\n'
        'fi\necho "        --- FAIL: TestDRA/all/X (0.10s)"; exit 1\n'
    )
    path.chmod(0o755)
    return path


def test_what_a_program_leaves_behind_is_ended(program: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    code = Program(program, (), "anything", tmp_path / "logs", tmp_path).run(lines.append)
    assert code == 0
    pid = int(lines[-1].removeprefix("scheduler "))
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    assert state.strip()[:1] in ("", "Z")
    assert "--- PASS" in (tmp_path / "logs" / "output.log").read_text()
    assert not list((tmp_path / "logs").glob("*.pid"))


def test_a_program_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(NotBuiltError, match=r"none is not there: run `make upstream`"):
        Program(tmp_path / "none", (), None, tmp_path, tmp_path).run(lambda _: None)


def test_our_scheduler_is_given_the_name_the_gates_and_the_time_outs_and_nothing_else() -> None:
    script = our_scheduler().replace(sys.executable, "echo")
    environment = {"HEALTH_PORT": "1", "FEATURE_GATES": "A=true", "FILTER_TIMEOUT": "", "BINDING_TIMEOUT": "2s"}
    answer = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=True).stdout
    name, gates = "--scheduler-name default-scheduler", "--feature-gates A=true"
    told = f"-m dra_scheduler.cli.main run {name} --http 127.0.0.1:1 {gates} --binding-timeout 2s"
    assert answer.split() == told.split()


def test_the_command_says_what_came_out(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "suite_program", lambda _: program)
    monkeypatch.setattr(command, "upstream_folder", lambda: tmp_path)
    results = tmp_path / "results.json"
    assert main(["upstream", "all", "--results", str(results)]) == 0
    assert main(["upstream", "all", "--reference", "--results", str(results)]) == 1
    out = capsys.readouterr().out
    assert "all (ours): 1 pass" in out
    assert "unexpected: fail TestDRA/all/X" in out
    found = Results(results).suites["all"]["TestDRA/all/X"]
    assert (found["ours"].outcome, found["reference"].outcome) == ("pass", "fail")


def test_an_unknown_suite_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upstream", "everything"]) == 2
    assert "error: no suite 'everything'; there are all, default, ga, api" in capsys.readouterr().err


# Building


@pytest.fixture(scope="module")
def build() -> ModuleType:
    path = repository_root() / "tests" / "upstream" / "build.py"
    specification = importlib.util.spec_from_file_location("upstream_build", path)
    assert specification is not None
    assert specification.loader is not None
    before = list(sys.path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    sys.path[:] = before
    return module


def test_the_hook_goes_where_the_scheduler_is_started_and_only_there(build: ModuleType) -> None:
    source = (
        'import (\n\t"fmt"\n)\n\nfunc Other() {\n' + build.BEFORE + "}\n"
        "func StartSchedulerWithDone(x) {\n\tfactory := 1\n" + build.BEFORE + "\t})\n}\n"
    )
    hooked = build.hooked(source)
    assert hooked.count("EXTERNAL_SCHEDULER") == 1
    assert hooked.index("factory := 1") < hooked.index("EXTERNAL_SCHEDULER") < hooked.rindex(build.BEFORE)
    assert '\t"os"\n' in hooked


def test_sources_that_have_changed_are_refused(build: ModuleType) -> None:
    with pytest.raises(build.TOOLS.BuildError, match=r"util\.go has changed"):
        build.hooked("package util\n")


def test_a_copy_of_the_module_cache_can_be_written_to(build: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "cache"
    (source / "test").mkdir(parents=True)
    (source / "test" / "a.go").write_text("package a\n")
    (source / "test" / "a.go").chmod(0o444)
    (source / "test").chmod(0o555)
    build.copy_source(source, tmp_path / "copy")
    (tmp_path / "copy" / "test" / "a.go").write_text("package b\n")
    build.copy_source(source, tmp_path / "copy")
    assert (tmp_path / "copy" / "test" / "a.go").read_text() == "package b\n"
    (source / "test").chmod(0o755)


def test_everything_that_decides_what_is_built_is_in_the_fingerprint(build: ModuleType, tmp_path: Path) -> None:
    for name in build.SOURCES:
        (tmp_path / name).write_bytes((build.MODULE / name).read_bytes())
    before = build.fingerprint(tmp_path)
    assert before == build.fingerprint()
    for name in build.SOURCES:
        (tmp_path / name).write_bytes((build.MODULE / name).read_bytes() + b"\n")
        assert build.fingerprint(tmp_path) != before
        before = build.fingerprint(tmp_path)


def test_every_suite_and_workload_is_built(build: ModuleType) -> None:
    assert len(build.targets(performance=False)) == len(places.SUITES)
    assert len(build.targets(performance=True)) == len(places.SUITES) + len(places.PERFORMANCE)


# scheduler_perf

CONFIG = """
- name: Scheduling
  workloads:
  - {name: fast, labels: [integration-test]}
  - {name: big, labels: [performance]}
- name: PublishResourceSlices
  workloads:
  - {name: big, labels: [performance]}
"""


@pytest.fixture
def perf(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A performance program that measures 100 pods/s with another scheduler, 50 with its own."""
    monkeypatch.setattr(workloads, "PERFORMANCE", ("dra",))
    monkeypatch.setattr(workloads, "performance_folder", lambda _: tmp_path)
    monkeypatch.setattr(workloads, "performance_program", lambda _: program)
    monkeypatch.setattr(bench_command, "upstream_folder", lambda: tmp_path / "out")
    (tmp_path / "performance-config.yaml").write_text(CONFIG)
    item = '{"data": {"Average": %s}, "unit": "pods/s", "labels": {"Metric": "SchedulingThroughput"}}'
    program.write_text(
        "#!/bin/sh\nfor one; do case $one in -data-items-dir=*) out=${one#*=};; esac; done\n"
        'figure=50; [ -n "$EXTERNAL_SCHEDULER" ] && figure=100\n'
        f'printf \'{{"version": "v1", "dataItems": [{item}]}}\' $figure > $out/a.json\n'
    )
    return program


def test_workloads_that_schedule_pods_are_measured_in_turns_and_noted(
    perf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "perf.json"
    assert main(["upstream-perf", "--rounds", "2", "--results", str(results)]) == 0
    out, err = capsys.readouterr()
    ratio = "ratio 2.00 (2.00-2.00)"
    assert f"dra/Scheduling/big: ours 100.0 (100.0-100.0), kube-scheduler 50.0 (50.0-50.0) pods/s, {ratio}" in out
    assert "PublishResourceSlices" not in out
    assert "round 2/2 dra/Scheduling/big: ours 100.0" in err
    assert [(one.ours, one.reference) for one in Rounds(results).all] == [(100, 50), (100, 50)]


def test_an_interrupted_measurement_goes_on_where_it_ended(perf: Path, tmp_path: Path) -> None:
    results = tmp_path / "perf.json"
    assert main(["upstream-perf", "--rounds", "1", "--results", str(results)]) == 0
    perf.write_text(perf.read_text().replace("figure=100", "figure=200"))
    assert main(["upstream-perf", "--rounds", "2", "--results", str(results)]) == 0
    assert main(["upstream-perf", "--rounds", "2", "--results", str(results)]) == 0
    assert [one.ours for one in Rounds(results).all] == [100, 200]
    assert main(["upstream-perf", "--rounds", "1", "--again", "--results", str(results)]) == 0
    assert [one.ours for one in Rounds(results).all] == [200]


def test_a_broken_file_of_rounds_is_named(perf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "perf.json").write_text('{"workloads": []}')
    assert main(["upstream-perf", "--results", str(tmp_path / "perf.json")]) == 2
    assert "perf.json is no file of rounds" in capsys.readouterr().err


@pytest.mark.parametrize(("room", "where"), [(0, "memory"), (1 << 80, "elsewhere")])
def test_etcd_writes_to_memory_where_there_is_room(
    perf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, where: str
) -> None:
    for name in ("memory", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(throughput, "MEMORY", tmp_path / "memory")
    monkeypatch.setattr(throughput, "ROOM", room)
    monkeypatch.setattr(throughput.tempfile, "tempdir", str(tmp_path / "elsewhere"))
    perf.write_text(perf.read_text() + f'echo "$TMPDIR" >> {tmp_path}/told\n')
    assert main(["upstream-perf", "--rounds", "1"]) == 0
    told = [Path(line) for line in (tmp_path / "told").read_text().split()]
    assert {folder.parent for folder in told} == {tmp_path / where}
    assert not any(folder.exists() for folder in told)


def test_a_run_without_a_figure_is_said(perf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perf.write_text("#!/bin/sh\nexit 1\n")
    assert main(["upstream-perf", "Scheduling", "--rounds", "3"]) == 1
    assert "dra/Scheduling/big (ours): no figure; the output is in" in capsys.readouterr().out


def test_workloads_are_listed(perf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upstream-perf", "--list"]) == 0
    assert capsys.readouterr().out == "dra/Scheduling/big\n"
