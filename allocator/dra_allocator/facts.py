"""What exactly was missing: one small record per kind of reason, for explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dra_allocator.device import TaintEffect
from dra_cel.quantity import NANO, Format, Quantity

NameKind = Literal["attribute", "capacity", "driver"]
RuleKind = Literal["match", "distinct"]


@dataclass(frozen=True, slots=True)
class Values:
    """What devices have of one attribute or capacity (or which drivers they are of).

    Attributes:
        kind: attribute, capacity or driver.
        name: fully qualified; empty for the driver.
        devices: how many devices were looked at.
        having: how many of them have it.
        values: the most frequent values as text, with the number of devices.
        distinct: how many different values there are.
        kinds: the values' types: string, int, bool, version, quantity, list.
        least: the smallest value as text, where values have an order.
        most: the largest.
        suggestion: where no device has it, how to write what was probably meant (`device.capacity["d"].n`).
        others: where no device has it and no name is like it, the first names that they have in the same domain.
        more: how many names there are besides those.

    """

    kind: NameKind
    name: str
    devices: int
    having: int
    values: tuple[tuple[str, int], ...] = ()
    distinct: int = 0
    kinds: tuple[str, ...] = ()
    least: str = ""
    most: str = ""
    suggestion: str = ""
    others: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a selector (an operand of its outermost `&&`) that devices do not meet.

    Attributes:
        text: as it is written.
        false: on how many devices it is false.
        failing: on how many devices evaluating it fails.
        devices: how many devices were asked.
        error: what evaluating it fails with.
        values: what the devices have of the names that it reads.

    """

    text: str
    false: int
    failing: int
    devices: int
    error: str = ""
    values: tuple[Values, ...] = ()


@dataclass(frozen=True, slots=True)
class TaintFact:
    """A taint that is not tolerated."""

    key: str
    value: str
    effect: TaintEffect


@dataclass(frozen=True, slots=True)
class Shortage:
    """Too little of a counter or of a shared capacity: amounts are quantities as text.

    `counter_set` is empty for capacities; `device` then has most of it left. `left` empty: the device's request policy
    does not allow the amount.
    """

    name: str
    wanted: str
    left: str
    total: str
    counter_set: str = ""
    pool: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class Groups:
    """How many devices a constraint lets be chosen together on the node.

    Attributes:
        rule: match (one value for all) or distinct (a value of its own for each).
        attribute: fully qualified name.
        wanted: devices.
        most: devices that go together: the largest group of one value; the number of different values.
        value: the value of the largest group.
        without: devices that lack the attribute.
        suggestion: the name that was probably meant, where no device has the attribute.

    """

    rule: RuleKind
    attribute: str
    wanted: int
    most: int
    value: str = ""
    without: int = 0
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class PoolFact:
    """A pool from which nothing is taken, and why: slices that are missing, or what is wrong with it."""

    pool: str
    generation: int
    slices: int
    expected: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Scarcity:
    """Requests that want the same devices: `wanted` altogether, and the node with most has `most` that one may have."""

    wanted: int
    most: int


Fact = Condition | TaintFact | Shortage | Groups | PoolFact | Scarcity


def amount_text(nanos: int) -> str:
    """Return nano-units as a quantity, with binary suffixes where these are shorter."""
    whole, rest = divmod(nanos, NANO)
    return str(Quantity(nanos, Format.DECIMAL_SI if rest or whole % 1024 else Format.BINARY_SI))
