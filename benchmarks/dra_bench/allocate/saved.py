"""Rows in a file, with the conditions under which they were measured."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from dra_bench.allocate.errors import SavedFileError
from dra_bench.allocate.row import KEYS, Row
from dra_bench.record import current_commit


def conditions(clock: str) -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "commit": current_commit(),
        "python": platform.python_version(),
        "machine": _processor() or platform.machine(),
        "cores": os.cpu_count(),
        "clock": clock,
    }


def save(path: Path, rows: Sequence[Row], clock: str) -> None:
    """Write rows to a file. Raises SavedFileError."""
    content = {"conditions": conditions(clock), "rows": [row.as_json() for row in rows]}
    try:
        path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise SavedFileError(f"{path} cannot be written: {error.strerror}") from error


def read(path: Path) -> list[Row]:
    """Return the rows of a file that `save` wrote, or that -o json printed. Raises SavedFileError."""
    try:
        content = orjson.loads(path.read_bytes())
        rows = content["rows"] if isinstance(content, dict) else content
        return [Row(**{key: row.get(key) for key in KEYS}) for row in rows]
    except OSError as error:
        raise SavedFileError(f"{path} cannot be read: {error.strerror}") from error
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SavedFileError(f"{path} has no rows of `dra-bench allocate`: {error}") from error


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
