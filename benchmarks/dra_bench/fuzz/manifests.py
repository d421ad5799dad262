"""Files: whatever the bytes, reading them lists documents and problems with their lines, in bounded time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import orjson
import yaml

from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.manifests import read_text
from dra_bench.fuzz.damage import JSON, damaged
from dra_bench.fuzz.grow import grown
from dra_bench.fuzz.study import PropertyError, Study, Watch
from dra_bench.fuzz.text import damaged as damaged_text
from dra_bench.fuzz.text import smaller
from dra_bench.oracle.draw import Draw

READ_MS = 1000.0
"""CPU time for a file of some 10 KiB."""
_KINDS = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
_VERSIONS = ("v1", "v1", "v1beta2", "v1beta1", "v1alpha3", "v1alpha2", "v2")
_BREAKS = (b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
"""What ends a line for YAML 1.1: rarely one more than for an editor."""
_DECODERS: dict[str, Callable[[JSON], object]] = {
    "ResourceClaim": decode.resource_claim,
    "ResourceSlice": decode.resource_slice,
    "DeviceClass": decode.device_class,
    "DeviceTaintRule": decode.taint_rule,
    "Node": decode.node,
}
_ALIASES = "a: &a [x]\n" + "".join(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}' if n else '*a'] * 9)}]\n" for n in range(12))
_ODD = (
    _ALIASES, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: *a}\n", "? {a: b}\n: c\n", "[" * 5000,
    "{" * 5000, "&a [*a]", "a: &a {b: *a}", "- " * 3000, "%YAML 1.1\n---\n", "--- |\n x",
    "!!python/object:os.system {}\n", "\t", "a:\n\tb", '{"a": ' * 2000, "[1e400]", '{"kind": "List", "items": ' * 300,
    "\ufeffkind: Pod", "a: 2026-01-01\nb: 12:30:45\n",
    "apiVersion: v1\nkind: List\nitems: [{kind: List, items: [{}]}]", "<<: {a: 1}\n", "a: !!binary x\n",
    "x: 0x" + "f" * 9000,
)  # fmt: skip


def make(seed: int) -> bytes:
    """Return the bytes of a file: objects as YAML or JSON, their text and their bytes damaged."""
    draw = Draw(f"manifests {seed}")
    if draw.chance(0.08):
        return _broken(draw, damaged_text(draw, draw.one(_ODD)))
    objects = [_object(draw) for _ in range(draw.weighted({1: 6, 2: 2, 3: 1}))]
    if draw.chance(0.25):
        text = orjson.dumps(objects[0], option=orjson.OPT_INDENT_2 * draw.chance(0.5)).decode()
    else:
        flow = draw.one((None, False, True))
        text = draw.one(("---\n", "\n---\n", "----\n", "...\n---\n")).join(
            yaml.dump(obj, default_flow_style=flow, Dumper=yaml.CSafeDumper) for obj in objects
        )
    return _broken(draw, damaged_text(draw, text[:10_000], most=2) if draw.chance(0.4) else text)


def _object(draw: Draw) -> JSON:
    obj = grown(draw, draw.one(_KINDS))
    obj["apiVersion"] = f"resource.k8s.io/{draw.one(_VERSIONS)}"
    if draw.chance(0.2):
        obj = {
            "apiVersion": "v1",
            "kind": draw.one(("Pod", "Node", "List", "Namespace")),
            "metadata": obj["metadata"],
        } | {
            "spec": obj["spec"],
            "items": [obj],
        }
    obj = damaged(draw, obj, most=1) if draw.chance(0.3) else obj
    try:
        orjson.dumps(obj)
    except TypeError:  # what JSON cannot say, YAML will not say either
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    return obj


def _broken(draw: Draw, text: str) -> bytes:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(draw.weighted({0: 12, 1: 2, 3: 1})):
        if data:
            data[draw.number(0, len(data) - 1)] = draw.number(0, 255)
    return bytes(data)


def check(given: bytes, watch: Watch) -> str:
    """Read the file, then decode its documents; each problem has a text and a line of the file."""
    with watch.at_most(READ_MS, "read"):
        found = read_text(given, "file.yaml")
    breaks = sum(given.count(one) for one in _BREAKS)
    lines = breaks + 2  # the parser may name the line after the last
    for problem in (*found.problems, *found.warnings):
        if not (problem.problem and str(problem).startswith("file.yaml") and 0 <= problem.line <= lines):
            raise PropertyError(f"a problem without place: {problem!r} in {lines} lines")
    for document in found.documents:
        if not str(document.key):
            raise PropertyError("a document without name")
        try:
            _DECODERS.get(document.object["kind"], id)(document.object)
        except DecodeError as error:
            if not document.problem(error).line:
                raise PropertyError(f"{error} has no line") from error
    return "problems" if found.problems else "read" if found.documents else "empty"


def _smaller(given: bytes) -> Iterator[bytes]:
    return (text.encode("latin-1") for text in smaller(given.decode("latin-1")))


STUDY = Study(make, check, _smaller)
