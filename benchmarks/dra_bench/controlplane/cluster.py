"""A real control plane on loopback, as one object.

    with ControlPlane(Options(manifests=(rbac_manifest(),))) as plane:
        plane.client("admin").request("GET", "/api/v1/nodes")
        plane.kubeconfig("dra-scheduler")        # a file for whoever is to run under that user

Start order: etcd; the API server, ready when its RBAC roles exist; then controllers and kube-scheduler, then the
manifests. Everything ends by process id with :meth:`ControlPlane.stop`, and also when this process is killed.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final

from dra_bench.controlplane.binaries import Binaries, find_binaries, repository_root
from dra_bench.controlplane.client import Client
from dra_bench.controlplane.errors import ConfigurationError, PortConflictError, RequestFailedError
from dra_bench.controlplane.flags import (
    APISERVER,
    CONTROLLER_MANAGER,
    ETCD,
    SCHEDULER,
    Layout,
    Options,
    Ports,
    component_flags,
    scheduler_configuration,
)
from dra_bench.controlplane.folders import create_folder, remove_abandoned, remove_folder
from dra_bench.controlplane.kubeconfig import Connection, User, standard_users, token_file, write_kubeconfig
from dra_bench.controlplane.ports import LOOPBACK, pick_ports
from dra_bench.controlplane.processes import Component
from dra_bench.controlplane.readiness import answers_ok, wait_ready
from dra_bench.controlplane.signing import new_signing_key

START_SECONDS: Final = 90.0
"""How long one component may take; usually under 4 s, with room for a machine that is busy compiling."""

START_ATTEMPTS: Final = 3
KUBECTL_SECONDS: Final = 60.0


def rbac_manifest() -> Path:
    """Return the manifest with the scheduler's own role; the token user ``dra-scheduler`` is bound by it."""
    return repository_root() / "manifests" / "rbac.yaml"


class ControlPlane:
    """Start, reach, disturb and stop one control plane. All calls block; none is safe from several threads at once.

    Attributes:
        options: what was asked for.
        components: the components by name, in starting order, once started.
        layout: its folder with logs, kubeconfigs and data, gone after :meth:`stop`.

    """

    def __init__(self, options: Options | None = None, *, binaries: Binaries | None = None) -> None:
        self.options = Options() if options is None else options
        self.components: dict[str, Component] = {}
        self.layout = Layout(Path("/nonexistent"))
        self._binaries = find_binaries() if binaries is None else binaries
        self._users: dict[str, User] = {}
        self._ports: Ports | None = None

    def start(self) -> None:
        """Start every component and return when all are ready and the manifests are applied.

        Raises:
            ControlPlaneError: it could not be started, also not with other ports; nothing is left running.

        """
        if self.components:
            raise ConfigurationError("this control plane has been started already")
        remove_abandoned()
        for attempt in range(1, START_ATTEMPTS + 1):
            try:
                self._start_once()
            except BaseException as error:
                self.stop()
                if not isinstance(error, PortConflictError) or attempt == START_ATTEMPTS:
                    raise
            else:
                return

    def stop(self) -> None:
        """End every component at once and remove the folder; harmless when nothing runs."""
        for component in reversed(self.components.values()):
            component.kill()
        self.components = {}
        remove_folder(self.layout.folder)

    def stop_component(self, name: str, *, grace: float = 10.0) -> None:
        """Let one component end as if its machine were shut down: SIGTERM, after ``grace`` seconds SIGKILL.

        An API server with open watches takes its full minute after SIGTERM, etcd some seconds: they rarely end within
        the grace. :meth:`kill_component` is the quick way.
        """
        self._component(name).stop(grace)

    def kill_component(self, name: str) -> None:
        """End one component as if its machine had lost power."""
        self._component(name).kill()

    def start_component(self, name: str) -> None:
        """Start a stopped component again, on the same port with the same data, and wait until it is ready."""
        component = self._component(name)
        component.start()
        wait_ready(component, self._probes()[name], seconds=START_SECONDS)

    def pause_component(self, name: str) -> None:
        """Freeze a component: its connections stay open, and nothing answers."""
        self._component(name).pause()

    def resume_component(self, name: str) -> None:
        """Let a paused component go on."""
        self._component(name).resume()

    def connection(self, key: str) -> Connection:
        """Return how to reach the API server as the user ``key`` (see ``standard_users``)."""
        user = self._users.get(key)
        if user is None or self._ports is None:
            known = ", ".join(self._users) or "none before the start"
            raise ConfigurationError(f"no user {key!r} in this control plane; there are {known}")
        authority = self.layout.certificate(APISERVER).read_bytes()
        return Connection(f"https://{LOOPBACK}:{self._ports.apiserver}", authority, user)

    def client(self, key: str) -> Client:
        """Return a blocking client for the user ``key``."""
        return Client(self.connection(key))

    def kubeconfig(self, key: str) -> Path:
        """Return the kubeconfig file of the user ``key``."""
        self.connection(key)
        return self.layout.kubeconfig(key)

    def kubectl(self, *arguments: str, user: str = "admin", stdin: str | None = None) -> str:
        """Run kubectl as ``user`` and return what it prints.

        Raises:
            RequestFailedError: it ended with an error; the text holds its stderr.

        """
        command = [str(self._binaries.path("kubectl")), f"--kubeconfig={self.kubeconfig(user)}", *arguments]
        result = subprocess.run(
            command, input=stdin or "", capture_output=True, text=True, timeout=KUBECTL_SECONDS, check=False
        )
        if result.returncode != 0:
            raise RequestFailedError(f"kubectl {' '.join(arguments)} failed: {result.stderr.strip()}")
        return result.stdout

    def __enter__(self) -> ControlPlane:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start_once(self) -> None:
        self.layout = Layout(create_folder())
        self._ports = Ports(*pick_ports(5))
        self._write_files()
        for name in self.options.components():
            flags = component_flags(name, self.options, self._ports, self.layout)
            self.components[name] = Component(name, [str(self._binaries.path(name)), *flags], self.layout.log(name))
        for name in (ETCD, APISERVER):
            self._start_and_wait(name)
        for user in self._users:
            write_kubeconfig(self.connection(user), self.layout.kubeconfig(user))
        rest = [name for name in self.components if name not in (ETCD, APISERVER)]
        for name in rest:
            self.components[name].start()
        for manifest in self.options.manifests:
            self.kubectl("apply", "--server-side", "-f", str(manifest))
        for name in rest:
            self._wait(name)

    def _write_files(self) -> None:
        users = (*standard_users(), *self.options.extra_users)
        self._users = {user.key: user for user in users}
        for path, content in (
            (self.layout.tokens, token_file(users).encode()),
            (self.layout.signing_key, new_signing_key()),
            (
                self.layout.scheduler_configuration,
                json.dumps(scheduler_configuration(self.options, self.layout), indent=2).encode(),
            ),
        ):
            path.write_bytes(content)
            path.chmod(0o600)

    def _start_and_wait(self, name: str) -> None:
        self.components[name].start()
        self._wait(name)

    def _wait(self, name: str) -> None:
        started = [component for component in self.components.values() if component.pid]
        wait_ready(self.components[name], self._probes()[name], seconds=START_SECONDS, beside=started)

    def _probes(self) -> Mapping[str, Callable[[], bool]]:
        ports = self._ports
        if ports is None:
            raise ConfigurationError("this control plane has not been started")
        return {
            ETCD: lambda: answers_ok(f"http://{LOOPBACK}:{ports.etcd}/health"),
            APISERVER: lambda: self._answers(APISERVER, ports.apiserver, "/readyz"),
            CONTROLLER_MANAGER: lambda: self._answers(CONTROLLER_MANAGER, ports.controller_manager, "/healthz"),
            SCHEDULER: lambda: self._answers(SCHEDULER, ports.scheduler, "/readyz"),
        }

    def _answers(self, component: str, port: int, path: str) -> bool:
        """Return whether a component answers with 200, under the certificate that it has written itself."""
        try:
            authority = self.layout.certificate(component).read_bytes()
            connection = Connection(f"https://{LOOPBACK}:{port}", authority, self._users["admin"])
            client = Client(connection, timeout=2)
            if component == APISERVER:
                return client.text(path)[0] == 200
            return client.raw("GET", path, None, {})[0] == 200  # open to everybody; admin's token stays here
        except (OSError, RequestFailedError):  # no certificate yet, half a certificate, or no listener yet
            return False

    def _component(self, name: str) -> Component:
        component = self.components.get(name)
        if component is None:
            known = ", ".join(self.components) or "none before the start"
            raise ConfigurationError(f"no component {name!r} in this control plane; there are {known}")
        return component
