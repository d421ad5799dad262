"""Carrying out the part of a decision that is about extended resources: a claim that has yet to be made.

decided: devices assumed for a made-up uid --create--> assumed for the claim --status--> allocated, reserved
                                                          --pod status--> known to kubelet | failure: deleted

A claim that was deleted holds its devices until it is gone, which others may delay by finalizers of theirs.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from dra_api import encode
from dra_api.transport import TransportError
from dra_scheduler.cache.claim_store import Claim
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.client.errors import ApiStatusError
from dra_scheduler.cycle.decision import SpecialPlan
from dra_scheduler.released import Released
from dra_scheduler.writes.claim_writer import ClaimWriter
from dra_scheduler.writes.errors import ClaimLostError, WriteError
from dra_scheduler.writes.pod_status_writer import PodStatusWriter
from dra_scheduler.writes.refs import ClaimRef, PodRef
from dra_scheduler.writes.special_claims import SpecialClaimWriter

_log = logging.getLogger(__name__)


class SpecialClaims:
    """Makes and unmakes special claims, and keeps the cluster's assumptions in step."""

    def __init__(
        self, cluster: Cluster, claims: ClaimWriter, special: SpecialClaimWriter, pods: PodStatusWriter
    ) -> None:
        self._cluster = cluster
        self._claims = claims
        self._special = special
        self._pods = pods

    async def make(
        self, pod: PodRef, plan: SpecialPlan, until_known: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
    ) -> Claim:
        """Create the claim. `until_known` asks again while the outcome is not known. Raises WriteError, ..."""
        body = self._special.body(pod, _requests(plan))
        created = await until_known(lambda: self._special.make(body))
        self._cluster.learn_claim(created, new=True)
        uid = created["metadata"]["uid"]
        claim = self._cluster.claims.by_uid(uid)
        if claim is None:
            raise ClaimLostError(str(ClaimRef.of(created)), "deleted meanwhile")
        self._cluster.claims.arrived(plan.claim.spec.uid, uid, pod.uid)
        return claim

    async def allocate(self, pod: PodRef, plan: SpecialPlan, claim: Claim) -> None:
        """Allocate the claim and reserve it for its pod. Raises as ClaimWriter.allocate_and_reserve."""
        wanted = encode.allocation(plan.allocation)
        answer = await self._claims.allocate_and_reserve(claim.raw, wanted, pod)
        self._cluster.learn_claim(answer)

    async def tell(self, pod: PodRef, plan: SpecialPlan, claim: Claim) -> None:
        """Write into the pod's status what kubelet has to know. Raises as PodStatusWriter."""
        mappings = [
            {"containerName": each.container, "resourceName": each.resource, "requestName": each.request}
            for each in plan.claim.mappings
        ]
        await self._pods.extended_claim(pod, claim.name, mappings)

    async def discard(self, claim: Claim, pod: PodRef) -> Released:
        """Delete the claim of a pod that was not bound with it.

        What the pod's status says of it stays: API servers refuse to clear it, the next claim's name replaces it.
        """
        ref = ClaimRef(claim.namespace, claim.name, claim.uid)
        try:
            left = await self._special.remove(ref, pod)
        except (WriteError, ApiStatusError, TransportError) as error:
            _log.warning("not deleted, the next attempt does it pod=%s claim=%s error=%s", pod, ref, error)
            return Released.FAILED
        if left is not None:
            self._cluster.learn_claim(left)
            return Released.LINGERS
        self._cluster.apply_claim(claim.raw, None)
        return Released.DONE


def _requests(plan: SpecialPlan) -> list[dict[str, Any]]:
    return [
        {
            "name": request.name,
            "exactly": {
                "deviceClassName": request.device_class,
                "allocationMode": "ExactCount",
                "count": request.count,
            },
        }
        for request in plan.claim.spec.requests
    ]
