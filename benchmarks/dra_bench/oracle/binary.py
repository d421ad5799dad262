"""Where the oracle's binary is. Standard library only: the build imports it before anything is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dra_bench.controlplane.binaries import binary_folder

BINARY: Final = "dra-oracle"
BUILD_COMMAND: Final = "make oracle"


def oracle_path() -> Path:
    """Return the binary's path, beside those of the control plane. It need not exist."""
    return binary_folder() / BINARY
