"""Random expressions over devices from a seed: mostly well typed, weighted to cover every function of the language.

An expression grows from templates: `{int}` stands for an expression of that type, `$int` for a new variable that what
follows may use. Now and then a placeholder is filled with another type: the checker or the evaluation has to say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dra_bench.oracle.draw import Draw
from dra_bench.oracle.expression_templates import LEAVES, TEMPLATES, TYPES

JSON = dict[str, Any]
Scope = tuple[tuple[str, str], ...]
_PLACEHOLDER = re.compile(r"\{(\w+)\}|\$(\w+)")
DERIVABLE = ("bool", "int", "string", "semver", "dyn", "ints", "strings", "bools", "dyns")
"""Types that a derived attribute may have."""
WRONG_TYPE = 0.02
SINGLE = 0.5
"""How many expressions start from any template at all."""
_ALL = [(kind, template) for kind, templates in TEMPLATES.items() for template in templates]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression with its parts, so that it can be made smaller. `kind` is the type that was asked for."""

    kind: str
    parts: tuple[str | Expression, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def smaller(self) -> Iterator[Expression]:
        """Expressions with less in them: a part of the same type instead of the whole, a leaf instead of a part."""
        yield from self._descendants(self.kind)
        if any(isinstance(part, Expression) for part in self.parts):
            yield from (Expression(self.kind, (leaf,)) for leaf in LEAVES[self.kind])
        for index, part in enumerate(self.parts):
            if isinstance(part, Expression):
                for less in part.smaller():
                    yield Expression(self.kind, (*self.parts[:index], less, *self.parts[index + 1 :]))

    def _descendants(self, kind: str) -> Iterator[Expression]:
        for part in self.parts:
            if isinstance(part, Expression):
                if part.kind == kind:
                    yield part
                yield from part._descendants(kind)


class ExpressionMaker:
    """Makes expressions; each has at most `depth` templates inside each other."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._variables = 0

    def make(self, kind: str, depth: int, scope: Scope = ()) -> Expression:
        """Return an expression of a type; `scope` has the variables (name, type) that it may use."""
        draw = self._draw
        if draw.chance(WRONG_TYPE):
            kind = draw.one(TYPES)
        own = [name for name, of in scope if of == kind]
        if own and draw.chance(0.5):
            return Expression(kind, (draw.one(own),))
        if depth <= 0 or kind not in TEMPLATES or draw.chance(0.15):
            return Expression(kind, (draw.one(LEAVES[kind]),))
        return self._fill(kind, draw.one(TEMPLATES[kind]), depth, scope)

    def single(self, depth: int) -> Expression:
        """One template of any type, each equally likely, as a bool: what has many templates does not hide the rest."""
        kind, template = self._draw.one(_ALL)
        made = self._fill(kind, template, depth, ())
        return made if kind == "bool" else self._compared(made)

    def _compared(self, made: Expression) -> Expression:
        other = self.make(made.kind if self._draw.chance(0.7) else "dyn", 1)
        return Expression("bool", (made, " == ", other))

    def _fill(self, kind: str, template: str, depth: int, scope: Scope) -> Expression:
        made: list[str | Expression] = []
        end = 0
        for found in _PLACEHOLDER.finditer(template):
            made.append(template[end : found.start()])
            end = found.end()
            if found.group(1):
                made.append(self.make(found.group(1), depth - 1, scope))
            else:
                self._variables += 1
                name = f"v{self._variables}"
                scope = (*scope, (name, found.group(2)))
                made.append(name)
        return Expression(kind, (*made, template[end:]))


def generate(seed: int, *, derived: bool = False) -> Expression:
    """Return the expression of a seed: usually of type bool; to derive an attribute, of any type."""
    draw = Draw(f"expression {seed}")
    if derived:
        kind = draw.weighted(dict.fromkeys(TYPES, 1) | dict.fromkeys(DERIVABLE, 10))
        return ExpressionMaker(draw).make(kind, draw.weighted({1: 4, 2: 3, 3: 1}))
    if draw.chance(SINGLE):
        return ExpressionMaker(draw).single(draw.weighted({1: 5, 2: 2}))
    kind = "bool" if draw.chance(0.97) else draw.one(TYPES)
    return ExpressionMaker(draw).make(kind, draw.weighted({1: 3, 2: 5, 3: 4, 4: 1}))


def devices(seed: int, count: int = 6) -> list[JSON]:
    """Return devices for the expression of a seed: names collide with what the templates read."""
    draw = Draw(f"devices {seed}")
    return [_device(draw) for _ in range(count)]


def _device(draw: Draw) -> JSON:
    attributes = {name: draw.one(values) for name, values in _ATTRIBUTES.items() if draw.chance(0.75)}
    capacity = {name: {"value": draw.one(values)} for name, values in _CAPACITY.items() if draw.chance(0.75)}
    made: JSON = {"driver": draw.weighted({"d.io": 5, "e.io": 1}), "attributes": attributes, "capacity": capacity}
    if draw.chance(0.3):
        made["allowMultipleAllocations"] = draw.chance(0.7)
    return made


_ATTRIBUTES: dict[str, list[JSON]] = {
    "s": [{"string": "a"}, {"string": "b-1"}, {"string": "äöü"}, {"string": ""}, {"int": 3}],
    "i": [{"int": 0}, {"int": 7}, {"int": -3}, {"int": 9223372036854775807}, {"string": "7"}],
    "b": [{"bool": True}, {"bool": False}],
    "v": [{"version": "1.2.3"}, {"version": "2.0.0-rc.1"}, {"version": "1.2.3+b"}],
    "ls": [{"strings": ["a", "c"]}, {"strings": ["b-1"]}, {"string": "a"}],
    "li": [{"ints": [1, 7]}, {"ints": [3, 2, 3]}],
    "lv": [{"versions": ["1.2.3", "0.1.0"]}],
    "x.io/s": [{"string": "a"}, {"string": "10.0.0.1"}],
}
_CAPACITY = {"m": ["80Gi", "1500m", "40960Mi", "1e3"], "x.io/n": ["7", "0", "7000m"]}
