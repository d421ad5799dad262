"""Which kind of cases a file holds is told by its content, never by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from dra_bench.conformance.allocator_case import AllocatorCase
from dra_bench.conformance.case import Case, CaseFileError
from dra_bench.conformance.golden_case import golden_cases
from dra_bench.conformance.helper_case import HelperCase
from dra_bench.conformance.selector_case import SelectorCase


def read_cases(path: Path) -> list[Case]:
    """Read all cases of a file. Raises CaseFileError."""
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise CaseFileError(f"{path}: cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise CaseFileError(f"{path}: is not JSON: {error}") from error
    return list(_cases(path, content))


def _cases(path: Path, content: Any) -> Iterator[Case]:
    if isinstance(content, Mapping) and "rows" in content and "devices" in content:
        yield from golden_cases(content["devices"], content["rows"])
        return
    if not isinstance(content, list):
        raise CaseFileError(f"{path}: expected a list of cases, or an object with devices and rows")
    for number, raw in enumerate(content):
        yield _case(path, number, raw)


def _case(path: Path, number: int, raw: Any) -> Case:
    if not isinstance(raw, dict):
        raise CaseFileError(f"{path}: case {number}: expected an object, got {type(raw).__name__}")
    if isinstance(raw.get("input"), dict):
        return AllocatorCase(raw)
    if "expression" in raw:
        return SelectorCase(raw)
    if "test" in raw and isinstance(raw.get("fields"), dict):
        return HelperCase(raw)
    raise CaseFileError(
        f"{path}: case {number}: has neither `input` (allocator), `expression` (selector) nor `test` and `fields`"
    )
