"""One expression over devices: Kubernetes' letters and costs, ours one device at a time, ours over columns."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from dra_bench.conformance.fields import device_fields, plain_attribute
from dra_bench.oracle.errors import OraclePanicError
from dra_bench.oracle.process import Oracle
from dra_cel.columns import DeviceColumns
from dra_cel.derived import DerivedAttribute, compile_derived
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.frame import COST_LIMIT
from dra_cel.selector import Selector, compile_selector

JSON = dict[str, Any]
_RECOVERED = "internal error:"
"""How the text starts where evaluation panicked and was recovered: the whole expression fails, `||` or not."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What an expression is compiled as: stored or new, and which gates are on (they count for new ones).

    `derived`: as the expression of a derived attribute instead of a selector.
    """

    new_expression: bool = False
    list_attributes: bool = True
    consumable_capacity: bool = True
    derived: bool = False

    def question(self) -> JSON:
        """What the oracle wants to know."""
        gates = {
            "EnableConsumableCapacity": self.consumable_capacity,
            "EnableListTypeAttributes": self.list_attributes,
        }
        environment = "NewExpressions" if self.new_expression else "StoredExpressions"
        return {"kind": "derived" if self.derived else "cel", "envType": environment, "gates": gates}

    def compiled(self, text: str) -> Selector | DerivedAttribute:
        """Compile it. Raises CompileError."""
        compile_text = compile_derived if self.derived else compile_selector
        return compile_text(
            text,
            new_expression=self.new_expression,
            list_attributes=self.list_attributes,
            consumable_capacity=self.consumable_capacity,
        )


STORED = Setting()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A letter per device, and what it cost.

    T, F, E (run-time error), C (does not compile), P (Kubernetes panics), X (we crash). `costs` are those until an
    error, too; None where the evaluation panicked or passed the limit. `estimated` is None where nobody estimates.
    `columns` are the letters of the evaluation over columns (Kubernetes has none). `values` are the attributes that
    were derived, as JSON.
    """

    letters: str
    estimated: int | None = None
    costs: tuple[int | None, ...] = ()
    columns: str = ""
    detail: str = ""
    values: tuple[str, ...] = ()


def kubernetes(oracle: Oracle, text: str, devices: Sequence[JSON], setting: Setting = STORED) -> Evaluation:
    """Ask Kubernetes."""
    try:
        answer = oracle.ask({"expression": text, "devices": devices, **setting.question()})
    except OraclePanicError as error:
        return Evaluation("P" * len(devices), detail=str(error).splitlines()[0])
    letters = "".join(
        "P" if error.startswith(_RECOVERED) else letter
        for letter, error in zip(answer["letters"], answer.get("errors") or [""] * len(devices), strict=True)
    )
    costs = tuple(
        _within_limit(cost) if letter in "TFE" else None
        for cost, letter in zip(answer.get("actualCosts", ()), letters, strict=False)
    )
    errors = answer.get("compileError") or next(filter(None, answer.get("errors", ())), "")
    values = tuple(map(_value, answer.get("attributes") or ()))
    return Evaluation(letters, answer["maxCost"] if "C" not in letters else None, costs, "", errors, values)


def _value(attribute: JSON | None) -> str:
    """The attribute; an empty list is as good as none."""
    return orjson.dumps({kind: value for kind, value in (attribute or {}).items() if value not in (None, [])}).decode()


def _within_limit(cost: int | None) -> int | None:
    """Where exactly an evaluation stops that passes the limit is nobody's business."""
    return None if cost is None or cost > COST_LIMIT else cost


def ours(text: str, devices: Sequence[JSON], setting: Setting = STORED) -> Evaluation:
    """Compile once, evaluate each device alone, then all over columns."""
    fields = [device_fields(device) for device in devices]
    try:
        program = setting.compiled(text)
    except CompileError as error:
        return Evaluation("C" * len(devices), detail=str(error))
    except Exception:  # as below
        return Evaluation("X" * len(devices), detail=traceback.format_exc())
    letters, costs, values, detail = "", [], [], ""
    for device in fields:
        letter, cost, value, reason = _evaluated(program, device)
        letters += letter
        costs.append(cost)
        values.append(value)
        detail = detail or reason
    columns = _over_columns(program, fields) if isinstance(program, Selector) else ""
    derived = tuple(values) if setting.derived else ()
    return Evaluation(letters, program.estimated_cost, tuple(costs), columns, detail, derived)


def _evaluated(program: Selector | DerivedAttribute, device: DeviceFields) -> tuple[str, int | None, str, str]:
    """Letter, cost, derived attribute, and why it failed."""
    try:
        value, cost = program.evaluate(device)
    except EvaluationError as error:
        return "E", _within_limit(error.cost), _value(None), str(error)
    except Exception:  # a defect of ours: any expression may be written by a tenant
        return "X", None, "", traceback.format_exc()
    if isinstance(program, Selector):
        return "T" if value else "F", cost, "", ""
    return "T", cost, _value(plain_attribute(value)), ""


def _over_columns(selector: Selector, fields: Sequence[DeviceFields]) -> str:
    columns = DeviceColumns(fields)
    try:
        masks = selector.masks(columns)
    except Exception:  # as above
        return "X" * len(fields)
    letters = ""
    for row in range(len(fields)):
        if masks.unknown[row]:
            letters += _evaluated(selector, columns.fields(row))[0]
        else:
            letters += "E" if masks.error[row] else "T" if masks.match[row] else "F"
    return letters


def differences(theirs: Evaluation, mine: Evaluation) -> list[str]:
    """Say what differs: `letters`, `columns` (ours disagrees with itself), `cost`, `value`, `estimate`."""
    found = []
    if "P" in theirs.letters:
        same = all(one in ("P", other) for one, other in zip(theirs.letters, mine.letters, strict=True))
        found.append("panic" if same else "letters")
    elif theirs.letters != mine.letters:
        found.append("letters")
    elif "C" not in mine.letters:
        found += ["cost"] if theirs.costs != mine.costs else []
        found += ["value"] if theirs.values != mine.values else []
    if mine.columns and mine.columns != mine.letters:
        found.append("columns")
    if None not in (theirs.estimated, mine.estimated) and theirs.estimated != mine.estimated:
        found.append("estimate")
    return found
