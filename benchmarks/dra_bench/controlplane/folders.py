"""The folder of a running control plane, removed with it; and what killed owners have left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "dra-controlplane-"
OWNER: Final = "owner.pid"


def create_folder(parent: Path | None = None) -> Path:
    """Return a new private folder in ``parent`` (default: the system's), marked with this process's id."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    (folder / OWNER).write_text(str(os.getpid()))
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it; harmless when it is gone."""
    shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path | None = None) -> list[Path]:
    """Remove folders whose owner no longer runs (it was killed before it could clean up) and return them."""
    place = Path(tempfile.gettempdir()) if parent is None else parent
    removed = []
    for mark in place.glob(f"{PREFIX}*/{OWNER}"):
        with contextlib.suppress(OSError, ValueError):  # being written or removed by another process
            if not _runs(int(mark.read_text())):
                remove_folder(mark.parent)
                removed.append(mark.parent)
    return removed


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
