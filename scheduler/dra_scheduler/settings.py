"""What can be set about the scheduler. Each setting states its unit, its default and what None means."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dra_scheduler.feature_gates import check


class Settings(BaseModel):
    """Settings of one scheduler process; immutable once made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scheduler_names: tuple[str, ...] = Field(default=("dra-scheduler",), min_length=1)
    """Pods whose `spec.schedulerName` is one of these are ours. Default: `dra-scheduler` only."""

    instance: str = Field(default="dra-scheduler", min_length=1, max_length=128)
    """`reportingInstance` of the events we write: the name of this process. Default: `dra-scheduler`."""

    http: str | None = None
    """`host:port` for /livez, /readyz and /metrics. None (default): no HTTP at all."""

    feature_gates: dict[str, bool] = Field(default_factory=dict)
    """Feature gates by their Kubernetes names. A gate that is not named has its default in the server's version.

    Refused: names that Kubernetes does not know, and gates that exclude each other.
    """

    filter_timeout: float | None = Field(default=10.0, gt=0)
    """Seconds that one attempt to allocate may take over all nodes. Default 10. None: as long as it takes."""

    binding_timeout: float = Field(default=600.0, gt=0)
    """Seconds to wait for the binding conditions of a pod's devices, from their allocation on. Default 600."""

    backoff_initial: float = Field(default=1.0, gt=0)
    """Seconds that a pod waits after its first failed attempt; doubles with each. Default 1."""

    backoff_max: float = Field(default=10.0, gt=0)
    """Upper bound in seconds of that waiting time. Default 10."""

    unschedulable_flush: float = Field(default=300.0, gt=0)
    """Seconds after which a pod is tried again although nothing happened that may help it. Default 300."""

    max_in_flight: int = Field(default=64, ge=1)
    """How many pods may be in the middle of their writes at a time. Default 64."""

    slice: float = Field(default=0.005, gt=0, le=0.01)
    """Seconds of work after which the scheduling cycle lets the event loop do something else. Default 0.005."""

    stop_grace: float = Field(default=5.0, ge=0)
    """Seconds that an orderly stop waits for writes under way; the next start takes up what is left. Default 5."""

    mask_bytes: int = Field(default=64 * 1024 * 1024, ge=1024)
    """Bytes for remembered selector results. Default 64 MiB."""

    @field_validator("feature_gates")
    @classmethod
    def _known_gates(cls, gates: dict[str, bool]) -> dict[str, bool]:
        check(gates)
        return gates
