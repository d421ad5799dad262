"""Golden rows: one expression, several devices, one letter a device (T true, F false, E error, C does not compile)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra_api.errors import DecodeError
from dra_bench.conformance.case import Actual
from dra_bench.conformance.fields import device_fields
from dra_cel.device import DeviceFields
from dra_cel.errors import CompileError, EvaluationError
from dra_cel.selector import compile_selector

EXPECTED = "stored_1_37"
"""The column of letters that we answer for: stored expressions, Kubernetes 1.37."""


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One row."""

    raw: Mapping[str, Any]
    devices: Sequence[DeviceFields]

    @property
    def name(self) -> str:
        """The expression."""
        return str(self.raw["expr"])

    def run(self) -> Actual:
        """Compile once, evaluate on each device."""
        try:
            selector = compile_selector(self.name)
        except CompileError as error:
            return Actual("C" * len(self.devices), error=str(error))
        letters, first_error = "", None
        for device in self.devices:
            try:
                letters += "T" if selector.matches(device) else "F"
            except EvaluationError as error:
                letters += "E"
                first_error = first_error or str(error)
        return Actual(letters, error=first_error)

    def differences(self, actual: Actual) -> list[str]:
        """Compare the letters and, where given, the estimated cost."""
        found = []
        expected = self.raw[EXPECTED]
        if actual.outcome != expected:
            found.append(f"expected {expected}, got {actual.outcome}" + (f" ({actual.error})" if actual.error else ""))
        cost = self.raw.get("max_cost")
        if cost is not None and "C" not in expected and "C" not in actual.outcome:
            estimated = compile_selector(self.name).estimated_cost
            if estimated != cost:
                found.append(f"expected an estimated cost of {cost}, got {estimated}")
        return found


def golden_cases(devices: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[GoldenCase]:
    """All rows over the same devices. Raises DecodeError for a device that cannot be read."""
    try:
        fields = [device_fields(device) for device in devices]
    except DecodeError as error:
        raise error.within("devices") from error
    for row in rows:
        yield GoldenCase(row, fields)
