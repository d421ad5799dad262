"""Who takes part in a race: how it is started once the course is laid, and when it counts as started."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dra_bench.cluster.ceiling import SCHEDULER_NAME as CEILING
from dra_bench.cluster.errors import RaceError, StuckError
from dra_bench.cluster.inventory import Course
from dra_bench.controlplane.cluster import ControlPlane
from dra_bench.controlplane.flags import SCHEDULER
from dra_bench.controlplane.ports import LOOPBACK, pick_ports
from dra_bench.controlplane.processes import Component
from dra_bench.controlplane.readiness import answers_ok, wait_ready

START_SECONDS = 60.0
OURS = "ours"
USER = "dra-scheduler"
"""Whose rights everybody but kube-scheduler has: manifests/rbac.yaml, never an admin's."""

Build = Callable[[Path, int, Course], list[str]]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A scheduler. `build` makes its command from kubeconfig, health port and course; None: the plane's own component.

    `scheduler_name`: what its pods say in spec.schedulerName.
    """

    name: str
    scheduler_name: str
    build: Build | None = None

    @property
    def is_component(self) -> bool:
        """Whether it is kube-scheduler, which the control plane starts and stops itself."""
        return self.build is None


def _ours(kubeconfig: Path, port: int, course: Course) -> list[str]:
    command = str(Path(sys.executable).with_name("dra-scheduler"))
    return [command, "run", "--kubeconfig", str(kubeconfig), "--http", f"{LOOPBACK}:{port}", "--log-level", "warning"]


def _ceiling(kubeconfig: Path, port: int, course: Course) -> list[str]:
    options = ["--kubeconfig", str(kubeconfig), "--port", str(port)]
    size = ["--nodes", str(course.nodes), "--devices", str(course.devices)]
    return [
        *(sys.executable, "-m", "dra_bench.cluster.ceiling"),
        *options,
        *size,
        *(["--selector"] if course.selector else []),
    ]


def _shell(command: str) -> Build:
    def build(kubeconfig: Path, port: int, course: Course) -> list[str]:
        given = [f"KUBECONFIG={kubeconfig}", f"HEALTH_PORT={port}"]
        return ["/usr/bin/env", *given, "sh", "-c", f"exec {command}"]

    return build


KNOWN = {
    OURS: Contestant(OURS, "dra-scheduler", _ours),
    SCHEDULER: Contestant(SCHEDULER, "default-scheduler"),
    CEILING: Contestant(CEILING, CEILING, _ceiling),
}


def known(name: str) -> Contestant:
    """Return a contestant by its name. Raises RaceError."""
    if name not in KNOWN:
        raise RaceError(f"there is no peer {name!r}; there are {', '.join(KNOWN)}, and --command NAME=COMMAND")
    return KNOWN[name]


def external(text: str) -> Contestant:
    """Return the contestant of `NAME=COMMAND`, a shell command whose pods name NAME. Raises RaceError."""
    name, equals, command = text.partition("=")
    if not equals or not name or not shlex.split(command):
        raise RaceError(f"{text!r} is not NAME=COMMAND, for instance mine='my-scheduler --port $HEALTH_PORT'")
    return Contestant(name, name, _shell(command))


class Running:
    """A contestant that runs, from entering the context to leaving it."""

    def __init__(self, contestant: Contestant, plane: ControlPlane, course: Course) -> None:
        self._plane = plane
        self._contestant = contestant
        self._component: Component | None = None
        if contestant.build is not None:
            (self._port,) = pick_ports(1)
            command = contestant.build(plane.kubeconfig(USER), self._port, course)
            log = plane.layout.folder / "contestant.log"
            self._component = Component(contestant.name, command, log)

    def __enter__(self) -> Running:
        if self._component is None:
            self._plane.start_component(SCHEDULER)
            return self
        self._component.start()
        try:
            wait_ready(
                self._component, lambda: answers_ok(f"http://{LOOPBACK}:{self._port}/readyz"), seconds=START_SECONDS
            )
        except BaseException:
            self._component.kill()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        if self._component is None:
            self._plane.kill_component(SCHEDULER)
        else:
            self._component.stop()

    def check(self) -> None:
        """Raise StuckError if it has ended on its own."""
        component = self.component
        if not component.running:
            text = f"{self._contestant.name} ended with {component.exit_code}: {component.log_tail()[-1000:]}"
            raise StuckError(text)

    @property
    def component(self) -> Component:
        """Its process."""
        return self._plane.components[SCHEDULER] if self._component is None else self._component
