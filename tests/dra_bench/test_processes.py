from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dra_bench.controlplane import guard
from dra_bench.controlplane.errors import ComponentFailedError
from dra_bench.controlplane.processes import Component

SOURCE_ROOT = Path(guard.__file__).parents[2]


def wait_until_gone(pid: int) -> None:
    """Return when a process that is not our child has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ready, _, _ = select.select([descriptor], [], [], 10)
    os.close(descriptor)
    assert ready, f"process {pid} is still there after 10 s"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Component]]:
    made: list[Component] = []

    def component(*command: str) -> Component:
        made.append(Component("thing", command or ("sleep", "600"), tmp_path / "thing.log"))
        return made[-1]

    yield component
    for one in made:
        one.kill()


def process_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_started_program_runs_until_it_is_stopped(make: Callable[..., Component]) -> None:
    component = make()
    assert (component.running, component.exit_code, component.pid) == (False, None, 0)
    component.start()
    assert component.running
    assert Path(f"/proc/{component.pid}/comm").read_text() == "sleep\n"
    component.stop()
    assert not component.running
    assert component.exit_code == 128 + signal.SIGTERM
    wait_until_gone(component.pid)


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(make: Callable[..., Component]) -> None:
    code = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.write(1, b'up'); time.sleep(600)"
    component = make(sys.executable, "-c", code)
    component.start()
    while component.log_tail() != "up":
        assert component.running
    component.stop(grace=0.05)
    assert component.exit_code == 128 + signal.SIGKILL


def test_a_stopped_program_can_be_started_again_and_its_log_goes_on(make: Callable[..., Component]) -> None:
    component = make("sh", "-c", "echo started; exit 3")
    for _ in range(2):
        component.start()
        while component.running:
            pass
    assert component.exit_code == 3
    assert component.log_tail() == "started\nstarted"


def test_a_running_program_is_not_started_twice(make: Callable[..., Component]) -> None:
    component = make()
    component.start()
    with pytest.raises(ComponentFailedError, match="thing is running already"):
        component.start()


def test_a_program_that_is_not_there_is_named_with_the_reason(make: Callable[..., Component]) -> None:
    with pytest.raises(ComponentFailedError, match=r"thing could not be started(?s:.*)No such file or directory"):
        make("/no/such/program").start()


def test_a_paused_program_is_frozen_goes_on_and_can_be_killed(make: Callable[..., Component]) -> None:
    component = make()
    component.start()
    component.pause()
    while process_state(component.pid) != "T":
        assert component.running
    component.resume()
    while process_state(component.pid) == "T":
        assert component.running
    component.pause()
    component.kill()
    assert component.exit_code == 128 + signal.SIGKILL


def test_signals_to_what_has_ended_or_never_started_do_nothing(make: Callable[..., Component]) -> None:
    component = make("true")
    component.pause()
    component.stop()
    component.start()
    while component.running:
        pass
    component.pause()
    component.stop()
    assert component.exit_code == 0


def test_a_program_outlives_the_thread_that_started_it(make: Callable[..., Component]) -> None:
    component = make()
    thread = threading.Thread(target=component.start)
    thread.start()
    thread.join()
    assert component.running
    assert process_state(component.pid) in {"S", "R", "D"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_ends_when_the_process_that_started_it_is_killed(tmp_path: Path, number: int) -> None:
    code = f"""if True:
        import sys, time
        sys.path.insert(0, {str(SOURCE_ROOT)!r})
        from pathlib import Path
        from dra_bench.controlplane.processes import Component
        component = Component("thing", ["sleep", "600"], Path({str(tmp_path / "log")!r}))
        component.start()
        component.pause()  # a frozen program ends, too
        print(component.pid, flush=True)
        time.sleep(600)
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        owner.send_signal(number)
        owner.wait()
    wait_until_gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="the second guard is Linux' parent-death signal")
def test_a_program_ends_when_its_guard_is_killed(make: Callable[..., Component]) -> None:
    component = make()
    component.start()
    guard_process = component._guard
    assert guard_process is not None
    guard_process.kill()
    guard_process.wait()
    wait_until_gone(component.pid)
    assert not component.running


def test_the_tail_of_a_long_log_starts_with_a_whole_line(make: Callable[..., Component]) -> None:
    component = make()
    component.log.write_text("".join(f"line {number:05}\n" for number in range(2000)))
    tail = component.log_tail()
    assert len(tail) <= 4000
    assert tail.startswith("line 0")
    assert tail.endswith("line 01999")
