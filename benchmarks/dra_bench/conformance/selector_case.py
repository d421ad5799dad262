"""Selector cases: one expression, one device, the environment and gates that it is compiled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dra_api.errors import DecodeError
from dra_bench.conformance.case import Actual
from dra_bench.conformance.fields import device_fields, plain_attribute
from dra_cel.derived import compile_derived
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.selector import compile_selector

_LETTERS = {"match": "T", "noMatch": "F", "matchError": "E", "compileError": "C"}


@dataclass(frozen=True, slots=True)
class _Run:
    """What one setting gave."""

    outcome: str
    value: Any = None
    error: str | None = None
    cost: int | None = None
    estimated: int | None = None


@dataclass(frozen=True, slots=True)
class SelectorCase:
    """One case of TestCEL's form, run once for each setting of `enableListTypeAttributes`."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name, environment and gate, which together are the key."""
        raw = self.raw
        parts = [raw.get("envType"), "ConsumableCapacity" if raw.get("enableConsumableCapacity") else None]
        label = raw.get("name") or raw["expression"]
        return f"{label} ({', '.join(part for part in parts if part)})" if any(parts) else str(label)

    def run(self) -> Actual:
        """Run all settings; the letters are of the first, the runs of all are in `results`."""
        runs = list(self._runs())
        first = runs[0]
        results = [
            {"outcome": run.outcome, "value": run.value, "cost": run.cost, "estimated": run.estimated} for run in runs
        ]
        return Actual(_LETTERS.get(first.outcome, first.outcome), results, first.error)

    def differences(self, actual: Actual) -> list[str]:
        """Compare each setting's outcome, attribute and costs."""
        expected = self.raw["expected"]
        settings = self.raw.get("actual") or [{}] * len(actual.results)
        found = []
        for run, reference in zip(actual.results, settings, strict=True):
            where = "" if len(settings) == 1 else f" (list attributes {reference.get('enableListTypeAttributes')})"
            found += [difference + where for difference in self._differences(expected, reference, run, actual.error)]
        return found

    def _differences(self, expected: Any, reference: Any, run: Any, error: str | None) -> Iterator[str]:
        if run["outcome"] != expected["outcome"]:
            yield f"expected {expected['outcome']}, got {run['outcome']}" + (f" ({error})" if error else "")
            return
        if expected.get("attribute") is not None and run["value"] != expected["attribute"]:
            yield f"expected the attribute {expected['attribute']}, got {run['value']}"
        estimated = reference.get("maxCost") if reference.get("maxCost") is not None else expected.get("cost")
        if estimated is not None and run["outcome"] != "compileError" and run["estimated"] != estimated:
            yield f"expected an estimated cost of {estimated}, got {run['estimated']}"
        cost = reference.get("actualCost")
        if cost is not None and run["cost"] is not None and run["cost"] != cost:
            yield f"expected a cost of {cost}, got {run['cost']}"

    def _runs(self) -> Iterator[_Run]:
        for lists in self.raw.get("enableListTypeAttributes") or [True]:
            yield self._run(bool(lists))

    def _run(self, lists: bool) -> _Run:
        raw = self.raw
        compile_text = compile_derived if raw.get("derivedAttribute") else compile_selector
        try:
            program = compile_text(
                raw["expression"],
                new_expression=raw.get("envType") == "NewExpressions",
                list_attributes=lists,
                consumable_capacity=bool(raw.get("enableConsumableCapacity", True)),
            )
        except CompileError as error:
            return _Run("compileError", error=str(error))
        estimated = program.estimated_cost
        if (raw.get("expected") or {}).get("outcome") == "compiles":
            return _Run("compiles", estimated=estimated)
        try:
            value, cost = program.evaluate(self._device())
        except (EvaluationError, DecodeError) as error:
            return _Run("matchError", error=str(error), estimated=estimated)
        if raw.get("derivedAttribute"):
            return _Run("attribute", plain_attribute(value), cost=cost, estimated=estimated)
        return _Run("match" if value else "noMatch", cost=cost, estimated=estimated)

    def _device(self) -> DeviceFields:
        return device_fields(self.raw)
