"""Manifests from files and directories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dra_api.manifests.problem import Manifests, Problem
from dra_api.manifests.reader import MAX_FILE, merge, read_text

_SUFFIXES = (".yaml", ".yml", ".json")


def read_paths(paths: Iterable[str | Path], *, stdin: bytes | None = None, namespace: str = "default") -> Manifests:
    """Read files and directories (with all below, `.yaml`, `.yml` and `.json` in alphabetical order).

    `-` stands for `stdin`, the content of the standard input. What cannot be read is among the problems.
    """
    return merge([part for path in paths for part in _read(path, stdin, namespace)])


def _read(path: str | Path, stdin: bytes | None, namespace: str) -> Iterator[Manifests]:
    if str(path) == "-":
        yield read_text(stdin or b"", "<stdin>", namespace=namespace)
        return
    path = Path(path)
    if not path.is_dir():
        yield _read_file(path, namespace)
        return
    files = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        yield _unreadable(path, f"has no {', '.join(_SUFFIXES)} files in it", "")
    for file in files:
        yield _read_file(file, namespace)


def _read_file(path: Path, namespace: str) -> Manifests:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE + 1)
    except OSError as error:
        return _unreadable(path, f"cannot be read: {error.strerror or error}", "")
    if len(content) > MAX_FILE:
        return _unreadable(path, f"has more than {MAX_FILE} bytes", "split the file")
    return read_text(content, str(path), namespace=namespace)


def _unreadable(path: Path, problem: str, hint: str) -> Manifests:
    return Manifests(problems=(Problem(str(path), 0, "", "", problem, hint),))
