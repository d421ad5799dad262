"""Files that hold what a command is to print."""

from __future__ import annotations

import os
from pathlib import Path


def check_golden(test: Path, name: str, text: str) -> None:
    """Compare with a file in the folder `golden` beside the test; DRA_UPDATE_GOLDEN=1 writes it."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    path = test.parent / "golden" / name
    if os.environ.get("DRA_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
