"""What reading manifests yields: documents, warnings and problems, each with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dra_api.errors import DecodeError
from dra_api.manifests.lines import Lines, line_at, line_of
from dra_api.references import ObjectKey, key_of


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong (or, as a warning, odd) in a file. `line` is from 1; 0: the file as a whole.

    `object` reads `Kind namespace/name`, `field` is a path; both may be empty, and so may `hint`, what to do. `code` is
    a stable name of what is wrong, or empty: then the text cannot be read at all.
    """

    file: str
    line: int
    object: str
    field: str
    problem: str
    hint: str = ""
    code: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        text = ": ".join(part for part in (place, self.object, self.field, self.problem) if part)
        return f"{text}; {self.hint}" if self.hint else text


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file. resource.k8s.io objects are in the v1 shape; `api_version` is what the file says.

    `object` may share parts with other documents (YAML aliases): it must not be changed.
    """

    object: dict[str, Any]
    source: str
    api_version: str
    lines: Lines

    @property
    def line(self) -> int:
        """The line on which the object starts."""
        return line_of(self.lines)

    @property
    def key(self) -> ObjectKey:
        """The object's kind, namespace and name."""
        return key_of(self.object)

    def line_of(self, path: str) -> int:
        """Return the line of a field (`spec.devices[0].name`), or of what holds it if it is not in the file."""
        return line_at(self.lines, path)

    def problem(self, error: DecodeError) -> Problem:
        """Return a decoder's error with its place in the file."""
        line = self.line_of(error.field)
        return Problem(self.source, line, str(self.key), error.field, error.problem, error.hint, error.code)


@dataclass(frozen=True, slots=True)
class Manifests:
    """Everything that was read, in order. Objects with problems are not among the documents."""

    documents: tuple[Document, ...] = ()
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
