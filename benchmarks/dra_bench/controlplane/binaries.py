"""Where the control plane's binaries are, and what to do when they are not there.

This module is the one place that knows the location: ``tests/controlplane/build.py`` writes to it, the cluster and
the tests read from it. It imports the standard library only, because the build runs before anything is installed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dra_bench.controlplane.errors import BinariesMissingError

KUBERNETES_VERSION: Final = "1.37.2"
"""The release that ``tests/controlplane/go.mod`` pins (without the leading ``v``)."""

LOCATION_VARIABLE: Final = "DRA_CONTROLPLANE"
"""Environment variable that replaces the default folder of the binaries."""

BINARIES: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
"""File names of all binaries, in the order in which they are built."""

BUILD_COMMAND: Final = "make controlplane"


def repository_root() -> Path:
    """Return the checkout that this file lies in, or the current directory when the package is installed elsewhere."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "tests" / "controlplane" / "go.mod").is_file() else Path.cwd()


def binary_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the binaries: ``$DRA_CONTROLPLANE``, else ``.controlplane/<version>/bin`` in the checkout.

    The folder need not exist.
    """
    chosen = (os.environ if environment is None else environment).get(LOCATION_VARIABLE, "")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return repository_root() / ".controlplane" / KUBERNETES_VERSION / "bin"


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder that holds every binary of the control plane."""

    folder: Path

    def path(self, name: str) -> Path:
        """Return the path of one of :data:`BINARIES`."""
        return self.folder / name


def missing_binaries(folder: Path) -> tuple[str, ...]:
    """Return the names that ``folder`` lacks, or holds as files that cannot be executed."""
    return tuple(name for name in BINARIES if not os.access(folder / name, os.X_OK))


def find_binaries(folder: Path | None = None) -> Binaries:
    """Return the binaries in ``folder`` (default: :func:`binary_folder`).

    Raises:
        BinariesMissingError: at least one is not there; the text names them and the command that builds them.

    """
    place = binary_folder() if folder is None else folder
    missing = missing_binaries(place)
    if missing:
        raise BinariesMissingError(place, missing, f"run `{BUILD_COMMAND}` (needs Go) or set {LOCATION_VARIABLE}")
    return Binaries(place)
