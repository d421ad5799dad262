"""Who evaluates a selector for `dra-scheduler cel`: our own engine, or cel-python as a second opinion.

cel-python knows the language but none of Kubernetes' functions and types: versions and quantities are texts to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dra_scheduler.cli.cel_devices import PublishedDevice
from dra_scheduler.cli.cel_reasons import NO_KEY, Cause, Reasoner


@dataclass(frozen=True, slots=True)
class Verdict:
    """`result` is true, false or error; `reason` is why, `causes` are the operands that make it so."""

    result: str
    reason: str = ""
    causes: tuple[Cause, ...] = ()


Judge = Callable[[PublishedDevice], Verdict]


def own_engine(text: str) -> Judge:
    """Return the judge by dra_cel; raises CompileError."""
    reasoner = Reasoner(text)

    def judge(device: PublishedDevice) -> Verdict:
        if device.unreadable is not None:
            return Verdict("error", device.unreadable)
        result, error, causes = reasoner.judge(device.fields)
        is_whole = [cause.expression for cause in causes] == [reasoner.text]
        reason = error if error and is_whole else "; ".join(map(str, causes))
        meant = reasoner.meant(device.fields) if error.startswith(NO_KEY) else ""
        return Verdict(result, f"{reason}, did you mean {meant}?" if meant else reason, tuple(causes))

    return judge


def cel_python(text: str) -> Judge:
    """Return the judge by cel-python."""
    import celpy  # takes half a second, and only this engine needs it
    from celpy.adapter import json_to_cel
    from celpy.celparser import CELParseError

    environment = celpy.Environment()
    program = None
    refusal = ""
    try:
        program = environment.program(environment.compile(text))
    except CELParseError as error:
        refusal = f"does not parse: {_first_line(error)}"

    def judge(device: PublishedDevice) -> Verdict:
        if program is None:
            return Verdict("error", refusal)
        try:
            result = program.evaluate({"device": json_to_cel(_as_json(device))})
        except Exception as error:  # it lets many kinds of exceptions out
            return Verdict("error", _first_line(error))
        if not isinstance(result, celpy.celtypes.BoolType | bool):
            return Verdict("error", f"the result is no bool but {result!r}")
        return Verdict("true" if result else "false")

    return judge


def _first_line(error: Exception) -> str:
    return str(error.args[0] if error.args else error).split("\n", 1)[0]


def _as_json(device: PublishedDevice) -> dict[str, Any]:
    fields = device.fields
    return {
        "driver": fields.driver,
        "allowMultipleAllocations": fields.allow_multiple_allocations,
        "attributes": _by_domain(fields.attributes),
        "capacity": _by_domain(fields.capacity),
    }


def _by_domain(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        domain, _, id_ = name.partition("/")
        grouped.setdefault(domain, {})[id_] = _plain(value)
    return grouped


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | str) else str(value)


ENGINES: Mapping[str, Callable[[str], Judge]] = {"cel-python": cel_python, "dra": own_engine}
"""Name of an engine to what makes a judge of an expression."""
