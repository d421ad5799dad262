"""Manifests to documents: YAML or JSON, lists flattened, old spellings taken or refused, types checked."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

import orjson

from dra_api.decode.fields import mapping
from dra_api.errors import DecodeError, describe
from dra_api.manifests.json_lines import parse_json
from dra_api.manifests.lines import Lines, Parsed, SyntaxProblem, child_lines, line_at, line_of
from dra_api.manifests.problem import Document, Manifests, Problem
from dra_api.manifests.separators import split_documents
from dra_api.manifests.spelling import check_pod, move_name
from dra_api.manifests.yaml_lines import parse_yaml
from dra_api.references import RESOURCE_GROUP, ObjectKey, find_resource
from dra_api.schema import check_types
from dra_api.schemas import ANY_KIND, SCHEMAS
from dra_api.versions import to_v1

MAX_FILE = 32 * 2**20
"""Bytes of one file."""

MAX_OBJECT = 3 * 2**20
"""Bytes of one object as JSON: what the API server and etcd take."""

_WORKLOADS = frozenset(
    ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController")
)


def read_text(text: bytes, source: str, *, namespace: str = "default") -> Manifests:
    """Read the objects of a file's content; `source` is its name in warnings and problems.

    Namespaced objects without a namespace get `namespace`. Nothing is raised: what is wrong is among the problems.
    """
    return _Reader(source, namespace).read(text)


TEMPLATE = "this looks like a template of a Helm chart; render it first: helm template CHART | ... -f -"
"""What to do about a text that is no manifest yet."""


class _Reader:
    def __init__(self, source: str, namespace: str) -> None:
        self._source = source
        self._is_template = False
        self._namespace = namespace
        self._documents: list[Document] = []
        self._warnings: list[Problem] = []
        self._problems: list[Problem] = []

    def read(self, content: bytes) -> Manifests:
        if len(content) > MAX_FILE:
            self._problem(0, "", f"has {len(content)} bytes, more than {MAX_FILE}", "split the file")
        else:
            try:
                text = content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
            except UnicodeDecodeError as error:
                line = content.count(b"\n", 0, error.start) + 1
                self._problem(line, "", f"is not UTF-8 (byte {error.start})", "save the file as UTF-8")
            else:
                self._read_documents(text)
        return Manifests(tuple(self._documents), tuple(self._warnings), tuple(self._problems))

    def _read_documents(self, text: str) -> None:
        self._is_template = "{{" in text
        if text.lstrip(" \t\r\n")[:1] in ("{", "["):
            self._parse(parse_json(text), len(text))
            return
        for chunk in split_documents(text):
            if chunk.odd_separator is not None:
                odd, hint = f"{chunk.odd_separator!r} is taken for a separator", "write exactly three hyphens: ---"
                self._warnings.append(Problem(self._source, chunk.line, "", "", odd, hint, "odd-separator"))
            if chunk.text.strip():
                self._parse(parse_yaml(chunk.text, chunk.line), len(chunk.text))

    def _parse(self, parsed: Iterator[Parsed], size: int) -> None:
        try:
            for document in parsed:
                for path, line in document.duplicates:
                    self._problem(line, path, "is there twice in the same object", "keep one of the two", "key-twice")
                if document.value is not None:
                    self._flatten(document.value, document.lines, size)
        except SyntaxProblem as problem:
            hint = TEMPLATE if self._is_template else problem.hint
            self._problem(problem.line, "", f"column {problem.column}: {problem.problem}", hint)

    def _flatten(self, value: Any, lines: Lines, size: int) -> None:
        if not isinstance(value, dict):
            self._problem(line_of(lines), "", "is not an object", "a manifest has apiVersion, kind and metadata.name")
            return
        kind = value.get("kind")
        items = value.get("items")
        if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
            self._read_object(value, lines, size)
            return
        head = {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")} if kind != "List" else {}
        for i, item in enumerate(items):
            place = child_lines(lines, "items", str(i))
            self._flatten(head | item if isinstance(item, dict) else item, place, size)

    def _read_object(self, obj: dict[str, Any], lines: Lines, size: int) -> None:
        api_version, kind = obj.get("apiVersion"), obj.get("kind")
        for name, value in (("apiVersion", api_version), ("kind", kind)):
            if not isinstance(value, str) or not value:
                self._problem(line_at(lines, name), name, "is missing or not a string", "every manifest needs it")
                return
        before = len(self._problems)
        try:
            obj = self._converted(obj, lines, str(api_version), str(kind))
        except DecodeError as error:
            self._report(error, obj, lines)
            return
        if size > MAX_OBJECT and (length := len(orjson.dumps(obj))) > MAX_OBJECT:
            too_long = DecodeError("", f"has {length} bytes as JSON, API servers take at most {MAX_OBJECT}")
            self._report(too_long, obj, lines)
        if len(self._problems) == before:
            self._documents.append(Document(obj, self._source, str(api_version), lines))

    def _converted(self, obj: dict[str, Any], lines: Lines, api_version: str, kind: str) -> dict[str, Any]:
        def warn(field: str, problem: str, hint: str, code: str) -> None:
            place = self._source, line_at(lines, field), _title(obj, kind)
            self._warnings.append(Problem(*place, field, problem, hint, code))

        obj = move_name(obj, warn)
        metadata = mapping(obj, "metadata")
        if all(metadata.get(name) in (None, "") for name in ("name", "generateName")):
            raise DecodeError("metadata.name", "is missing", "every object needs a name", code="api-invalid")
        resource = find_resource(api_version, kind)
        if api_version.partition("/")[0] == RESOURCE_GROUP and kind in SCHEMAS:
            notes: list[str] = []
            obj = to_v1(obj, notes)
            for note in notes:
                problem, _, hint = note.partition("; ")
                warn("apiVersion", problem, hint, "old-version")
        elif resource is None:
            if api_version.partition("/")[0] == RESOURCE_GROUP:
                hint = "use those of Kubernetes 1.31 and newer"
                raise DecodeError("kind", f"{kind} is not a kind of {RESOURCE_GROUP}", hint, code="unknown-version")
            self._warn_unknown(kind, warn)
            for error in check_types(obj, ANY_KIND, unknown_fields=False):
                self._report(error, obj, lines)
            return obj
        elif api_version not in [resource.api_version(version) for version in resource.versions]:
            hint = f"use {resource.api_version()}"
            raise DecodeError("apiVersion", f"{api_version!r} is not known here", hint, code="unknown-version")
        if kind == "Pod":
            check_pod(obj)
        known = kind in SCHEMAS
        for error in check_types(obj, SCHEMAS[kind] if known else ANY_KIND, unknown_fields=known):
            self._report(error, obj, lines)
        if resource is not None and resource.namespaced and not metadata.get("namespace"):
            obj = {**obj, "metadata": {**obj["metadata"], "namespace": self._namespace}}
        return obj

    def _warn_unknown(self, kind: str, warn: Any) -> None:
        if kind in _WORKLOADS:
            problem = f"a {kind} is not scheduled and creates no Pods here"
            warn("kind", problem, "write the Pods themselves", "unknown-kind")
        else:
            problem = f"{kind} is not a kind that is known here; it is kept and otherwise ignored"
            warn("kind", problem, "", "unknown-kind")

    def _report(self, error: DecodeError, obj: dict[str, Any], lines: Lines) -> None:
        title = _title(obj, str(obj.get("kind") or ""))
        line = line_at(lines, error.field)
        code = error.code or "wrong-value"
        self._problems.append(Problem(self._source, line, title, error.field, error.problem, error.hint, code))

    def _problem(self, line: int, field: str, problem: str, hint: str, code: str = "") -> None:
        self._problems.append(Problem(self._source, line, "", field, problem, hint, code))


def _title(obj: dict[str, Any], kind: str) -> str:
    metadata = obj.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    name = names.get("name") or names.get("generateName") or obj.get("name") or ""
    return describe(kind, str(names.get("namespace") or ""), str(name))


def merge(parts: list[Manifests]) -> Manifests:
    """Join what was read from several files; an object that is there twice is a problem."""
    first: dict[ObjectKey, Document] = {}
    documents: list[Document] = []
    problems = [problem for part in parts for problem in part.problems]
    for document in (document for part in parts for document in part.documents):
        other = first.setdefault(document.key, document) if document.key.name else document
        if other is document:
            documents.append(document)
            continue
        text = f"is already defined at {other.source}:{other.line}"
        where = (document.source, document.line, str(document.key))
        problems.append(Problem(*where, "", text, "keep one of the two", "object-twice"))
    warnings = tuple(warning for part in parts for warning in part.warnings)
    return Manifests(tuple(documents), warnings, tuple(problems))
