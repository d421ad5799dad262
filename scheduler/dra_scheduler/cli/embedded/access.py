"""A kept cluster's way in: a folder with a kubeconfig and manifests to try, and what to paste."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from dra_api.clock import Clock
from dra_embedded.errors import EmbeddedError
from dra_embedded.http.listener import Access, Place, serving
from dra_embedded.server import EmbeddedServer
from dra_scheduler.cli.embedded.scenarios import Scenario
from dra_scheduler.cli.loading import Object

LIMITS = "there is no RBAC: whoever has the token may do everything; nothing runs in the pods"
"""What is not simulated, for the start-up line."""


class FolderError(EmbeddedError):
    """No folder can be made for the files to try: the text says where and why."""


@dataclass(frozen=True, slots=True)
class Open:
    """A served cluster. `kubeconfig`: where its file is; `folder`: where manifests can be put, gone in the end."""

    access: Access
    kubeconfig: Path
    folder: Path

    def start_line(self) -> str:
        """What is served where, and what is not simulated."""
        return f"An API server of Kubernetes 1.37 listens on {self.access.url} ({LIMITS})."

    def export_line(self) -> str:
        """What to paste first."""
        return f"export KUBECONFIG={shlex.quote(os.path.abspath(self.kubeconfig))}"

    def offer(self, scenario: Scenario) -> list[str]:
        """Write the scenario's pods to try as files, and return the commands worth trying."""
        fits, too_big = (self._write(name, objects) for name, objects in _files(scenario))
        return [
            f"kubectl apply -f {fits}; kubectl get pods -o wide",
            f"kubectl apply -f {too_big}; kubectl describe pod too-big",
            f"kubectl delete pod {scenario.spare}; kubectl get resourceclaims",
        ]

    def _write(self, name: str, objects: Sequence[Object]) -> str:
        path = self.folder / name
        path.write_text(yaml.safe_dump_all(objects, sort_keys=False))
        return shlex.quote(str(path))


def _files(scenario: Scenario) -> Iterator[tuple[str, Sequence[Object]]]:
    yield "fits.yaml", scenario.fits
    yield "too-big.yaml", scenario.too_big


@asynccontextmanager
async def opened(server: EmbeddedServer, clock: Clock, place: Place, kubeconfig: Path | None) -> AsyncIterator[Open]:
    """Serve the cluster; the files are gone in the end. `kubeconfig` None: in a new folder.

    Raises FolderError, ListenError, KubeconfigError.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="dra-"))
    except OSError as error:
        raise FolderError(f"no folder for temporary files: {error.strerror}; set TMPDIR to one") from error
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        file = folder / "kubeconfig" if kubeconfig is None else kubeconfig
        async with serving(server, clock, place, file) as access:
            yield Open(access, file, folder)
