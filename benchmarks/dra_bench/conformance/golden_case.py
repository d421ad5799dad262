"""Golden rows: one expression, several devices, one letter a device (T true, F false, E error, C does not compile)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra_api.errors import DecodeError
from dra_bench.conformance.case import Actual, CaseError, objects
from dra_bench.conformance.fields import UnreadableDeviceError, device_fields
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.selector import Selector, compile_selector

STORED = "stored_1_37"
"""The column of letters of stored expressions, which a scheduler evaluates."""
NEW = {"new_1_37_all_gates": True, "new_1_37_no_gates": False}
"""Columns of new expressions, as an API server checks them, to whether the gates are on."""
Compile = Callable[[], Selector]
Devices = Sequence[DeviceFields | UnreadableDeviceError]


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One row. Columns that are not known (older environments) are ignored."""

    raw: Mapping[str, Any]
    devices: Devices

    @property
    def name(self) -> str:
        """The expression."""
        return str(self.raw["expr"])

    @property
    def key(self) -> str:
        """The expression."""
        return self.name

    def run(self) -> Actual:
        """Compile once as a stored expression, evaluate on each device."""
        return self._run(lambda: compile_selector(self.name))

    def _run_new(self, gates: bool) -> Actual:
        return self._run(
            lambda: compile_selector(self.name, new_expression=True, list_attributes=gates, consumable_capacity=gates)
        )

    def _run(self, compiled: Compile) -> Actual:
        try:
            selector = compiled()
        except CompileError as error:
            return Actual("C" * len(self.devices), error=str(error))
        letters, first_error = "", None
        for device in self.devices:
            try:
                if isinstance(device, UnreadableDeviceError):
                    raise device
                letters += "T" if selector.matches(device) else "F"
            except (EvaluationError, UnreadableDeviceError) as error:
                letters += "E"
                first_error = first_error or str(error)
        return Actual(letters, error=first_error)

    def differences(self, actual: Actual) -> list[str]:
        """Compare the letters of each column and, where given, the estimated cost. Raises CaseError."""
        columns = [column for column in (STORED, *NEW) if self.raw.get(column) is not None]
        if not columns:
            raise CaseError(f"{STORED} is missing: there are no letters to compare with")
        found = []
        for column in columns:
            ours = actual if column == STORED else self._run_new(NEW[column])
            if ours.outcome != self.raw[column]:
                where = "" if column == STORED else f" in {column}"
                reason = f" ({ours.error})" if ours.error else ""
                found.append(f"expected {self.raw[column]}{where}, got {ours.outcome}{reason}")
        cost = self.raw.get("max_cost")
        if cost is not None and "C" not in str(self.raw.get(STORED, "")) and "C" not in actual.outcome:
            estimated = compile_selector(self.name).estimated_cost
            if estimated != cost:
                found.append(f"expected an estimated cost of {cost}, got {estimated}")
        return found


def golden_cases(document: Mapping[str, Any]) -> Iterator[GoldenCase]:
    """All rows over the devices of the document. Raises CaseError."""
    if "devices" not in document:
        raise CaseError("devices is missing: rows have letters for them")
    devices = [_read(number, device) for number, device in enumerate(objects(document, "devices", "golden"))]
    for number, row in enumerate(objects(document, "rows", "golden")):
        if not isinstance(row.get("expr"), str):
            raise CaseError(f"rows[{number}].expr is missing or no text")
        yield GoldenCase(row, devices)


def _read(number: int, device: Mapping[str, Any]) -> DeviceFields | UnreadableDeviceError:
    try:
        return device_fields(device)
    except UnreadableDeviceError as error:
        return error
    except DecodeError as error:
        raise CaseError(str(error.within(f"devices[{number}]"))) from error
