"""Why a selector is not true for a device: the operands that make it so, with the values that they saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from dra_cel.columns import ColumnKey, field_value
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.parts import Part, parts
from dra_cel.selector import Selector, compile_selector
from dra_cel.suggestion import closest

NO_KEY = "no such key: "
"""How the error begins that a device lacks a name."""


@dataclass(frozen=True, slots=True)
class Cause:
    """An operand that decides.

    Attributes:
        expression: its text.
        result: true, false or error.
        values: what it reads of the device, by short name; None: the device lacks it.
        error: what went wrong, or empty.

    """

    expression: str
    result: str
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"{self.expression}: {self.error}"
        seen = ", ".join(
            f"{name} {'is absent' if value is None else f'= {shown(value)}'}" for name, value in self.values.items()
        )
        return f"{self.expression} is {self.result}{f' ({seen})' if seen else ''}"


@dataclass(frozen=True, slots=True)
class _Node:
    """A part with its compiled text; operands only where each of them compiles by itself."""

    part: Part
    selector: Selector
    operands: tuple[_Node, ...]

    def evaluate(self, device: DeviceFields) -> tuple[str, str]:
        """Return true, false or error, and the error's text."""
        try:
            return ("true" if self.selector.matches(device) else "false"), ""
        except EvaluationError as error:
            return "error", error.message


class Reasoner:
    """Explains what one expression says about devices. Raises CompileError."""

    def __init__(self, text: str) -> None:
        self._root = _compiled(parts(text)) or _Node(Part(text), compile_selector(text), ())

    @property
    def text(self) -> str:
        """The whole expression, without blanks or parentheses around it."""
        return self._root.part.text

    def meant(self, device: DeviceFields) -> str:
        """Return how to write the first name that a device lacks, where it has it as the other kind or alike."""
        for key in sorted(self._root.selector.reads or (), key=lambda key: (key.kind, key.name)):
            if key.kind in ("attribute", "capacity") and field_value(device, key) is None:
                own, other = set(device.attributes), set(device.capacity)
                if key.kind == "capacity":
                    own, other = other, own
                domain, _, name = key.name.rpartition("/")
                if key.name in other:
                    return _spelled("capacity" if key.kind == "attribute" else "attribute", domain, name)
                near = closest(name, (one.rpartition("/")[2] for one in sorted(own) if one.startswith(f"{domain}/")))
                if near is not None:
                    return _spelled(key.kind, domain, near)
        return ""

    def judge(self, device: DeviceFields) -> tuple[str, str, list[Cause]]:
        """Return true, false or error, the error's text, and, unless it is true, the operands that make it so."""
        result, error = self._root.evaluate(device)
        return result, error, [] if result == "true" else list(_causes(self._root, device, result))


def _spelled(kind: str, domain: str, name: str) -> str:
    return f'device.{"attributes" if kind == "attribute" else "capacity"}["{domain}"].{name}'


def _compiled(part: Part) -> _Node | None:
    try:
        selector = compile_selector(part.text)
    except CompileError:
        return None  # no bool by itself
    operands = [_compiled(operand) for operand in part.operands]
    present = tuple(one for one in operands if one is not None)
    return _Node(part, selector, present if len(present) == len(operands) else ())


def _causes(node: _Node, device: DeviceFields, result: str) -> Iterator[Cause]:
    """Yield the operands because of which a part has this result."""
    operands = [(operand, operand.evaluate(device)[0]) for operand in node.operands]
    match node.part.operator if operands else "":
        case "!":
            yield from _causes(*_of(operands[0], device))
        case "?:":
            condition, verdict = operands[0]
            yield from _causes(condition, device, verdict)
            if verdict != "error":
                yield from _causes(*_of(operands[1 if verdict == "true" else 2], device))
        case "&&" | "||" as operator:
            # What decides alone, else all of them; errors count where nothing decides.
            deciding = "false" if operator == "&&" else "true"
            wanted = {result} if result in (deciding, "error") else {"true", "false"}
            for operand, verdict in operands:
                if verdict in wanted:
                    yield from _causes(operand, device, verdict)
        case _:
            yield Cause(node.part.text, result, _values(node.selector, device), node.evaluate(device)[1])


def _of(judged: tuple[_Node, str], device: DeviceFields) -> tuple[_Node, DeviceFields, str]:
    return judged[0], device, judged[1]


def _values(selector: Selector, device: DeviceFields) -> dict[str, Any]:
    keys = sorted(selector.reads or (), key=lambda key: (key.kind, key.name))
    return {_short(key, keys): _plain(field_value(device, key)) for key in keys}


def _short(key: ColumnKey, keys: list[ColumnKey]) -> str:
    """Return the name without its domain, unless another one would read the same."""
    if not key.name:
        return "driver" if key.kind == "driver" else "allowMultipleAllocations"
    name = key.name.rpartition("/")[2]
    return key.name if sum(one.name.rpartition("/")[2] == name for one in keys) > 1 else name


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; versions and quantities are texts."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def shown(value: Any) -> str:
    """Return a value as it is written in expressions."""
    return orjson.dumps(value).decode()
