"""The conformance data: a folder of JSON files outside the project, named by the environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

NO_CONFORMANCE = "DRA_CONFORMANCE does not name the folder with the conformance data"


def load(name: str) -> Any:
    """The content of one file; None where the folder is not named."""
    folder = os.environ.get("DRA_CONFORMANCE")
    return json.loads((Path(folder) / name).read_text()) if folder else None


def conformance_cases(name: str) -> list[Any]:
    """The cases of one file; none where the folder is not named."""
    return list(load(name) or ())
