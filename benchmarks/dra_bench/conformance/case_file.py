"""Which kind of cases a file holds is told by its content, never by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from dra_bench.conformance.allocator_case import AllocatorCase
from dra_bench.conformance.case import Case, CaseError, CaseFileError
from dra_bench.conformance.golden_case import golden_cases
from dra_bench.conformance.helper_case import HelperCase
from dra_bench.conformance.selector_case import SelectorCase

_MARK = b"\xef\xbb\xbf"
"""What some editors put before UTF-8."""
_ENDINGS = (".json", ".jsonl", ".ndjson")


def read_cases(path: Path) -> list[Case]:
    """Read all cases of a file: a list, a single case, or one of either a line; of a folder: those of its files.

    Raises CaseFileError.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS)
        if not files:
            raise CaseFileError(f"{path}: the folder has no file that ends in {' or '.join(_ENDINGS)}")
        return [case for file in files for case in read_cases(file)]
    try:
        content = path.read_bytes().removeprefix(_MARK)
    except OSError as error:
        raise CaseFileError(f"{path}: cannot be read: {error.strerror}") from error
    numbers = iter(range(len(content)))
    return [case for document in _documents(path, content) for case in _cases(path, document, numbers)]


def _documents(path: Path, content: bytes) -> list[Any]:
    """The whole content as one document, else each line as one."""
    if not content.strip():
        raise CaseFileError(f"{path}: is empty")
    try:
        return [orjson.loads(content)]
    except orjson.JSONDecodeError as error:
        whole = error
    lines = [(number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    documents: list[Any] = []
    for number, line in lines:
        try:
            documents.append(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            if not any(isinstance(document, dict) for document in documents):
                raise CaseFileError(f"{path}: is not JSON: {whole}") from whole
            raise CaseFileError(f"{path}: line {number} is not JSON: {error}") from error
    return documents


def _cases(path: Path, content: Any, numbers: Iterator[int]) -> Iterator[Case]:
    if isinstance(content, list):
        for raw in content:
            if isinstance(raw, list):
                raise CaseFileError(f"{path}: case {next(numbers)}: expected an object, got list")
            yield from _cases(path, raw, numbers)
        return
    if isinstance(content, dict) and "rows" in content:
        try:
            yield from golden_cases(content)
        except CaseError as error:
            raise CaseFileError(f"{path}: {error}") from error
        return
    if isinstance(content, dict) and isinstance(content.get("cases"), list):
        yield from _cases(path, content["cases"], numbers)
        return
    yield _case(path, next(numbers), content)


def _case(path: Path, number: int, raw: Any) -> Case:
    if not isinstance(raw, dict):
        raise CaseFileError(f"{path}: case {number}: expected an object, got {type(raw).__name__}")
    if isinstance(raw.get("input"), dict):
        return AllocatorCase({"name": f"{path.name} case {number}"} | raw)
    if isinstance(raw.get("expression"), str):
        return SelectorCase(raw)
    if "test" in raw and isinstance(raw.get("fields"), dict):
        return HelperCase({"name": f"{path.name} case {number}"} | raw)
    named = f" ({raw['name']})" if raw.get("name") else ""
    raise CaseFileError(
        f"{path}: case {number}{named}: expected an allocator case (with the object `input`), a selector case (with"
        " the text `expression`), a helper's row (with `test` and the object `fields`) or golden rows (`devices` and"
        f" `rows`); it has {', '.join(map(repr, raw)) or 'no keys'}"
    )
