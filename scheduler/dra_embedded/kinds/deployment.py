"""Deployments: kept, and said to make no progress, since no controller makes pods of them.

Without a word in the status, `kubectl rollout status` would wait for one for ever.
"""

from __future__ import annotations

from typing import Any

from dra_embedded.kinds.behaviour import Call, GenerationBehaviour, Object

_REASON = "ProgressDeadlineExceeded"
"""What kubectl takes for the end of waiting (apps/v1, type Progressing)."""
MESSAGE = "an embedded cluster has no controllers for workloads: no pods are made"


class DeploymentBehaviour(GenerationBehaviour):
    """The status says so as long as nobody writes another."""

    def prepare_create(self, obj: Object, call: Call) -> None:
        """Begin with that status."""
        super().prepare_create(obj, call)
        obj["status"] = _status(obj["metadata"]["generation"], call.now)

    def prepare_update(self, new: Object, old: Object, call: Call) -> None:
        """Every new generation has been seen, too."""
        super().prepare_update(new, old, call)
        generation = new["metadata"].get("generation")
        if _is_ours(new.get("status") or {}) and generation != new["status"].get("observedGeneration"):
            new["status"] = {**new["status"], "observedGeneration": generation}


def _status(generation: int, now: str) -> dict[str, Any]:
    condition = {"type": "Progressing", "status": "False", "reason": _REASON, "message": MESSAGE}
    times = {"lastTransitionTime": now, "lastUpdateTime": now}
    return {"observedGeneration": generation, "conditions": [{**condition, **times}]}


def _is_ours(status: dict[str, Any]) -> bool:
    return any(condition.get("message") == MESSAGE for condition in status.get("conditions") or ())
