"""Derived attributes of requests (Kubernetes 1.37): names that a constraint uses, expressions, their cost."""

from __future__ import annotations

from collections.abc import Sequence

from dra_api.validation.errors import forbidden, invalid, required, too_many
from dra_api.validation.formats import fully_qualified_name
from dra_api.validation.lists import Errors, Raw, unique_items
from dra_api.validation.rules import Rules
from dra_api.validation.selectors import MAX_COST, compiles
from dra_cel.derived import DerivedAttribute, compile_derived

MAX_DERIVED = 32


class DerivedAttributes:
    """The check of one claim's derived attributes; collects what they cost."""

    def __init__(self, constraints: Sequence[Raw], rules: Rules) -> None:
        self._rules = rules
        self._costs: list[int] = []
        self._used: dict[str, set[str]] = {}
        for constraint in constraints:
            attribute = constraint.get("matchAttribute") or constraint.get("distinctAttribute")
            if attribute:
                for request in constraint.get("requests") or [""]:  # "": a constraint over all requests
                    self._used.setdefault(request, set()).add(attribute)

    def check(self, path: str, request: Raw, reference: str) -> Errors:
        """Check the derived attributes of a request; `reference` is its name in constraints."""

        def attribute(at: str, value: Raw) -> Errors:
            name = value.get("name") or ""
            if not name:
                yield required(f"{at}.name")
            else:
                yield from fully_qualified_name(f"{at}.name", name)
                if not self._is_used(name, reference):
                    text = "must be referenced by at least one matchAttribute or distinctAttribute constraint"
                    yield invalid(f"{at}.name", name, f"{text} targeting this request")
            expression = value.get("expression") or ""
            if expression:
                yield from compiles(f"{at}.expression", expression, lambda: self._compiled(expression), self._costs)
            else:
                yield required(f"{at}.expression")

        values = request.get("derivedAttributes") or ()
        where = f"{path}.derivedAttributes"
        if len(values) > MAX_DERIVED:
            yield too_many(where, len(values), MAX_DERIVED)
        yield from unique_items(where, values, None, attribute, lambda value: value.get("name") or "")

    def _is_used(self, attribute: str, reference: str) -> bool:
        targets = ("", reference, reference.split("/", 1)[0])
        return any(attribute in self._used.get(target, ()) for target in targets)

    def _compiled(self, expression: str) -> DerivedAttribute:
        features = self._rules.features
        return compile_derived(
            expression,
            new_expression=True,
            list_attributes=features.list_type_attributes,
            consumable_capacity=features.consumable_capacity,
        )

    def total_cost(self, path: str) -> Errors:
        """Check that the expressions of the claim do not cost too much together. Comes after all `check`s."""
        if sum(self._costs) > MAX_COST:
            text = "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit"
            yield forbidden(path, text)
