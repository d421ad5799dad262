"""Why pods are pending, in full: lines for terminals, data for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dra_allocator.rejection import Explanation
from dra_scheduler.pending import PendingPod
from dra_scheduler.report.explanation import Viewer, as_data, full, summary
from dra_scheduler.report.phrases import ended


def explained_lines(pending: Iterable[PendingPod], viewer: Viewer) -> Iterator[str]:
    """Yield a paragraph per pod: what it is about, kube-scheduler's words, and everything that is known."""
    for pod in pending:
        yield ""
        yield f"Pod {pod.namespace}/{pod.name} is pending"
        yield from (f"  {line}" for line in rejection_lines(pod.reason, pod.details, viewer))


def rejection_lines(reason: str, explanation: Explanation | None, viewer: Viewer) -> Iterator[str]:
    """Yield what helps most in a line, kube-scheduler's words, and the tree of everything unless that says the same."""
    said = "" if explanation is None else summary(explanation, viewer)
    if said:
        yield ended(said)
    yield reason
    lines = [] if explanation is None else full(explanation, viewer)
    if len(lines) > 1 or said not in "".join(lines):
        yield from lines


def explained_data(pending: Iterable[PendingPod], viewer: Viewer) -> list[dict[str, Any]]:
    """Return an entry per pod: `namespace`, `name`, `reason`, `summary`, `explanation`."""
    return [
        {"namespace": pod.namespace, "name": pod.name, "reason": pod.reason}
        | (
            {}
            if pod.details is None
            else {"summary": summary(pod.details, viewer), "explanation": as_data(pod.details, viewer)}
        )
        for pod in pending
    ]
