"""Everything about one pod put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dra_api.clock import Clock
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.explain.alternatives import Place, Skipped, skipped
from dra_scheduler.explain.pending import Verdict, judge
from dra_scheduler.explain.placed import Chosen, chosen
from dra_scheduler.explain.said import Said, said_about
from dra_scheduler.gang.consumers import consumer
from dra_scheduler.report.explanation import Viewer, viewer_of
from dra_scheduler.survey.snapshot import Object


@dataclass(frozen=True, slots=True)
class ClaimAccount:
    """A claim of the pod: its state in words, its devices, and the alternatives that were skipped."""

    name: str
    state: str
    devices: tuple[Chosen, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """What there is to say about a pod.

    `state` is `pending`, `placed` or `ended`. `verdict`: of a pending pod. `viewer` may name every claim.
    """

    namespace: str
    name: str
    scheduler: str
    state: str
    node: str
    said: Said
    viewer: Viewer
    claims: tuple[ClaimAccount, ...] = ()
    verdict: Verdict | None = None
    notes: tuple[str, ...] = field(default=())


async def account(cluster: Cluster, pod: Object, events: Iterable[Object], clock: Clock) -> Account:
    """Explain the pod, which is one of the cluster's; changes the cluster's tables (see `judge`)."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    said, viewer = said_about(pod, events), viewer_of(cluster.claims, None)
    node = spec.get("nodeName") or ""
    info = cluster.pods.get(metadata["uid"])
    made = {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "scheduler": spec.get("schedulerName") or "default-scheduler",
        "node": node,
        "said": said,
        "viewer": viewer,
    }
    if info is None:
        phase = (pod.get("status") or {}).get("phase") or "unknown"
        return Account(**made, state="ended", notes=(f"the pod has ended: {phase}",))
    place = Place(cluster, node, viewer, clock)
    claims = [_claim(place, info, name, claim) for name, claim in _claims_of(cluster, pod, info)]
    if node:
        return Account(**made, state="placed", claims=tuple(claims))
    verdict = await judge(cluster, info, clock)
    return Account(**made, state="pending", claims=tuple(claims), verdict=verdict, notes=_silence(said, spec, verdict))


def _silence(said: Said, spec: Object, verdict: Verdict) -> tuple[str, ...]:
    """A pod of which its scheduler says nothing may have none."""
    if said.condition or said.events or verdict.waits:
        return ()
    name = spec.get("schedulerName") or "default-scheduler"
    return (f"the scheduler {name} has said nothing about this pod: does it run?",)


def _claims_of(cluster: Cluster, pod: Object, info: PodInfo) -> Sequence[tuple[str, Claim | None]]:
    """Return the names and the claims of a pod, that of its extended resources last."""
    special = ((pod.get("status") or {}).get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    names = [entry.claim_name for entry in info.claims if entry.claim_name is not None]
    names += [special] if special else []
    return [(name, cluster.claims.get(info.namespace, name)) for name in dict.fromkeys(names)]


def _claim(place: Place, pod: PodInfo, name: str, claim: Claim | None) -> ClaimAccount:
    if claim is None:
        return ClaimAccount(name, "does not exist")
    if claim.problem:
        return ClaimAccount(name, f"cannot be read: {claim.problem}")
    if claim.allocation is None:
        return ClaimAccount(name, "not allocated")
    wanted = consumer(pod, claim, place.cluster)
    entries = (claim.raw.get("status") or {}).get("reservedFor") or ()
    others = len([entry for entry in entries if not wanted.has(entry)])
    whom = "this pod" if wanted.uid == pod.uid else f"its group {wanted.name}"
    state = f"allocated, reserved for {whom}" if others < len(entries) else f"allocated, not reserved for {whom}"
    state += f", shared with {others} more" if others else ""
    preferred = tuple(skipped(place, claim)) if place.node else ()
    return ClaimAccount(name, state, tuple(chosen(place.cluster, claim)), preferred)
