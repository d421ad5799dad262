"""Figures in Prometheus' text format, in base units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "dra_scheduler_"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure. `name` has no prefix; a counter's ends in `_total`, a time's in `_seconds`, a size's in `_bytes`."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    samples: tuple[tuple[Mapping[str, str], float], ...]
    """Labels and value; a figure without labels is one sample."""


@dataclass(slots=True)
class Figures:
    """Collects metrics; samples of the same name go together."""

    _metrics: dict[str, tuple[str, str, list[tuple[Mapping[str, str], float]]]] = field(default_factory=dict)

    def counter(self, name: str, text: str, value: float, **labels: str) -> None:
        """What only grows."""
        self._add(name, "counter", text, value, labels)

    def gauge(self, name: str, text: str, value: float, **labels: str) -> None:
        """What goes up and down."""
        self._add(name, "gauge", text, value, labels)

    def metrics(self) -> list[Metric]:
        """All of them, in the order in which they came first."""
        return [
            Metric(name, "counter" if kind == "counter" else "gauge", text, tuple(samples))
            for name, (kind, text, samples) in self._metrics.items()
        ]

    def _add(self, name: str, kind: str, text: str, value: float, labels: Mapping[str, str]) -> None:
        self._metrics.setdefault(name, (kind, text, []))[2].append((labels, value))


def render(metrics: Iterable[Metric]) -> str:
    """The text that Prometheus reads."""
    lines: list[str] = []
    for metric in metrics:
        name = f"{PREFIX}{metric.name}"
        text = metric.help.replace("\\", "\\\\").replace("\n", "\\n")
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {metric.kind}"]
        lines += [f"{name}{_labels(labels)} {_number(value)}" for labels, value in metric.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{value.translate(_ESCAPES)}"' for key, value in labels.items()) + "}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(float(value))]
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
