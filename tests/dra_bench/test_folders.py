from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dra_bench.controlplane.folders import OWNER, create_folder, remove_abandoned, remove_folder


def test_a_folder_is_private_and_removed_with_its_content(tmp_path: Path) -> None:
    folder = create_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / OWNER).read_text() == str(os.getpid())
    remove_folder(folder)
    remove_folder(folder)
    assert list(tmp_path.iterdir()) == []


def test_only_folders_whose_owner_is_gone_are_abandoned(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    ours, abandoned, marked_badly, other = (create_folder(tmp_path) for _ in range(4))
    (abandoned / OWNER).write_text(str(ended.pid))
    (marked_badly / OWNER).write_text("")
    other = other.rename(tmp_path / "something-else")
    (other / OWNER).write_text(str(ended.pid))
    assert remove_abandoned(tmp_path) == [abandoned]
    assert not abandoned.exists()
    assert ours.exists()
    assert marked_badly.exists()
    assert other.exists()
