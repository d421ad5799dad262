"""From samples to milliseconds per pod."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dra_bench.profile.errors import ProfileError
from dra_bench.profile.sampler import Sample
from dra_bench.profile.stages import DECIDING, FIRST_WRITE, STAGES, is_http, stage


@dataclass(frozen=True, slots=True)
class Stage:
    """CPU time of one stage: `ms` milliseconds per pod, of which `http_ms` in the HTTP client, TLS and sockets."""

    name: str
    ms: float
    http_ms: float


@dataclass(frozen=True, slots=True)
class Account:
    """A scheduler's CPU time per pod, from the first decision on; the other fields are those of the race's row."""

    scheduler: str
    nodes: int
    devices: int
    selector: bool
    pods: int
    pods_per_s: float
    samples: int
    ms: float
    stages: tuple[Stage, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it with its keys in order."""
        return asdict(self)


def after_start(samples: Sequence[Sample]) -> list[Sample]:
    """Leave out what comes before the first decision, or write: what is loaded once is no pod's."""
    begun = (*DECIDING, FIRST_WRITE)
    first = next((number for number, (_, stack) in enumerate(samples) if stage(stack) in begun), len(samples))
    return list(samples[first:])


def stages(samples: Sequence[Sample], pods: int) -> tuple[Stage, ...]:
    """Return the stages that took time, in the order of a pod's way. Raises ProfileError."""
    if not samples:
        raise ProfileError("there are no samples: race more pods")
    total: defaultdict[str, float] = defaultdict(float)
    http: defaultdict[str, float] = defaultdict(float)
    for seconds, stack in samples:
        name = stage(stack)
        total[name] += seconds
        if is_http(stack):
            http[name] += seconds
    per_pod = 1000 / pods
    return tuple(
        Stage(name, round(total[name] * per_pod, 3), round(http[name] * per_pod, 3)) for name in STAGES if total[name]
    )
