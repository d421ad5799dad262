"""Selector cases: one expression, one device, the environment and gates that it is compiled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dra_api.errors import DecodeError
from dra_bench.conformance.case import Actual, CaseError, objects
from dra_bench.conformance.fields import UnreadableDeviceError, device_fields, plain_attribute
from dra_cel.derived import compile_derived
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, CostLimitExceeded, EvaluationError
from dra_cel.selector import compile_selector

_LETTERS = {"match": "T", "noMatch": "F", "matchError": "E", "compileError": "C", "attribute": "T", "compiles": "T"}
"""One letter for the device; an attribute that is derived, or only has to compile, counts as true."""
_ENVIRONMENTS = {"NewExpressions": True, "StoredExpressions": False}
_GATE = "enableListTypeAttributes"


@dataclass(frozen=True, slots=True)
class _Run:
    """What one setting of the gate gave. `limit`: it ended at the limit of cost."""

    outcome: str
    value: Any = None
    cost: int | None = None
    estimated: int | None = None
    error: str | None = None
    limit: bool = False


@dataclass(frozen=True, slots=True)
class SelectorCase:
    """One case of TestCEL's form, run once for each setting of `enableListTypeAttributes`."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The case's name, else the expression."""
        return str(self.raw.get("name") or self.raw["expression"])

    @property
    def key(self) -> str:
        """Name, environment and gate, which together are the key."""
        raw = self.raw
        parts = [raw.get("envType"), "ConsumableCapacity" if raw.get("enableConsumableCapacity") else None]
        return f"{self.name} ({', '.join(str(part) for part in parts if part)})" if any(parts) else self.name

    def run(self) -> Actual:
        """Run all settings; the letters are of the first, the runs of all are in `results`. Raises CaseError."""
        runs = [(lists, self._run(lists)) for lists in self._settings()]
        first = runs[0][1]
        results = [{_GATE: lists, **asdict(run)} for lists, run in runs]
        return Actual(_LETTERS[first.outcome], results, first.error)

    def differences(self, actual: Actual) -> list[str]:
        """Compare each setting's outcome, attribute and costs. Raises CaseError."""
        expected = self._expected()
        references = {bool(entry.get(_GATE, True)): entry for entry in objects(self.raw, "actual", "case")}
        found = []
        for run in actual.results:
            where = "" if len(actual.results) == 1 else f" (list attributes {run[_GATE]})"
            reference = references.get(run[_GATE], {})
            found += [difference + where for difference in _differences(expected, reference, run)]
        return found

    def _expected(self) -> Mapping[str, Any]:
        expected = self.raw.get("expected")
        if not isinstance(expected, dict) or not isinstance(expected.get("outcome"), str):
            raise CaseError("expected.outcome is missing: there is nothing to compare with")
        return expected

    def _settings(self) -> list[bool]:
        given = self.raw.get(_GATE)
        if given is None or given == []:
            return [True]
        settings = given if isinstance(given, list) else [given]
        if not all(isinstance(setting, bool) for setting in settings):
            raise CaseError(f"{_GATE} must be true, false or a list of these, not {given!r}")
        return settings

    def _run(self, lists: bool) -> _Run:
        raw = self.raw
        environment = raw.get("envType") or "StoredExpressions"
        if environment not in _ENVIRONMENTS:
            raise CaseError(f"envType must be one of {', '.join(_ENVIRONMENTS)}, not {environment!r}")
        consumable = raw.get("enableConsumableCapacity")
        compile_text = compile_derived if raw.get("derivedAttribute") else compile_selector
        try:
            program = compile_text(
                raw["expression"],
                new_expression=_ENVIRONMENTS[environment],
                list_attributes=lists,
                consumable_capacity=True if consumable is None else bool(consumable),
            )
        except CompileError as error:
            return _Run("compileError", error=str(error))
        estimated = program.estimated_cost
        if (raw.get("expected") or {}).get("outcome") == "compiles":
            return _Run("compiles", estimated=estimated)
        try:
            value, cost = program.evaluate(self._device())
        except UnreadableDeviceError as error:
            return _Run("matchError", error=str(error), estimated=estimated)
        except EvaluationError as error:
            limit = isinstance(error, CostLimitExceeded)
            return _Run("matchError", cost=error.cost, estimated=estimated, error=str(error), limit=limit)
        if raw.get("derivedAttribute"):
            return _Run("attribute", plain_attribute(value), cost=cost, estimated=estimated)
        return _Run("match" if value else "noMatch", cost=cost, estimated=estimated)

    def _device(self) -> DeviceFields:
        try:
            return device_fields(self.raw)
        except DecodeError as error:
            raise CaseError(str(error)) from error


def _differences(expected: Mapping[str, Any], reference: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[str]:
    if run["outcome"] != expected["outcome"]:
        yield f"expected {expected['outcome']}, got {run['outcome']}" + (f" ({run['error']})" if run["error"] else "")
        return
    if expected.get("attribute") is not None and run["value"] != expected["attribute"]:
        yield f"expected the attribute {expected['attribute']}, got {run['value']}"
    estimated = reference.get("maxCost") if reference.get("maxCost") is not None else expected.get("cost")
    if estimated is not None and run["outcome"] != "compileError" and run["estimated"] != estimated:
        yield f"expected an estimated cost of {estimated}, got {run['estimated']}"
    cost = reference.get("actualCost")
    if cost is not None and run["cost"] is not None and run["cost"] != cost and not run["limit"]:
        yield f"expected a cost of {cost}, got {run['cost']}"
