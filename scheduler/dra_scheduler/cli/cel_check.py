"""`dra-scheduler cel --check`: type, estimated cost, and whether an API server takes the expression in a new object."""

from __future__ import annotations

from dataclasses import dataclass

from dra_cel.errors import CompileError
from dra_cel.frame import COST_LIMIT
from dra_cel.selector import compile_selector

LIST_GATE = "DRAListTypeAttributes"


@dataclass(frozen=True, slots=True)
class Checked:
    """What compiling tells.

    Attributes:
        result: the static type; empty: it does not compile.
        cost: Kubernetes' static worst case.
        error: why it does not compile, or None.
        gate: the feature gate that the API server needs to take it in a new object, or empty.

    """

    result: str = ""
    cost: int = 0
    error: CompileError | None = None
    gate: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether an API server takes it, with the gate on if it needs one."""
        return self.error is None and self.cost <= COST_LIMIT

    def as_json(self) -> dict[str, object]:
        """Return it for `-o json`; costs are texts, since they can be larger than 64 bits."""
        if self.error is not None:
            where = {"line": self.error.line, "column": self.error.column}
            hint = {"suggestion": self.error.suggestion} if self.error.suggestion else {}
            return {"accepted": False, "error": {"message": self.error.message} | where | hint}
        costs = {"estimatedCost": str(self.cost), "limit": str(COST_LIMIT)}
        return {
            "accepted": self.is_accepted,
            "type": self.result,
            **costs,
            **({"needsGate": self.gate} if self.gate else {}),
        }

    def lines(self) -> list[str]:
        """Return it for people; of an expression that compiles."""
        verdict = "within" if self.cost <= COST_LIMIT else "over"
        found = [f"type: {self.result}", f"estimated cost: {self.cost:,}, {verdict} the limit of {COST_LIMIT:,}"]
        if self.gate:
            found.append(f"in new objects: only with feature gate {self.gate}")
        return found


def check(text: str) -> Checked:
    """Compile as for stored objects, in which everything is allowed, and as for new ones."""
    try:
        selector = compile_selector(text)
        compile_selector(text, new_expression=True)
    except CompileError as error:
        return Checked(error=error)
    return Checked(selector.result_type, selector.estimated_cost, gate="" if _is_plain(text) else LIST_GATE)


def _is_plain(text: str) -> bool:
    """Tell whether it compiles without attributes that are lists."""
    try:
        compile_selector(text, new_expression=True, list_attributes=False)
    except CompileError:
        return False
    return True
