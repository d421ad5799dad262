"""A claim's side: reservations of pods that are gone, deallocation, the end of generated claims."""

from __future__ import annotations

from typing import Any

from dra_api.references import FINALIZER, POD, POD_GROUP, RESOURCE_CLAIM
from dra_embedded.claims.names import is_done, is_group_reservation, is_pod_reservation, owning_pod, reservations
from dra_embedded.claims.view import View
from dra_embedded.clients.api import Api, RefusedError

Object = dict[str, Any]


class ClaimSync:
    """Works on one claim at a time."""

    def __init__(self, api: Api, view: View) -> None:
        self._api = api
        self._view = view

    async def sync(self, key: str) -> None:
        """Take pods that are gone out of reservedFor; when nobody is left, deallocate. Raises RefusedError."""
        claim = self._view.claims.get(key)
        if claim is None:
            return
        remaining = [each for each in reservations(claim) if await self._keeps(claim, each)]
        finalized = FINALIZER in (claim["metadata"].get("finalizers") or ())
        if len(remaining) < len(reservations(claim)):
            status = {field: value for field, value in claim["status"].items() if field != "reservedFor"}
            if remaining:
                status["reservedFor"] = remaining
            elif finalized:
                status.pop("allocation", None)
            answer = await put_status(self._api, claim, status)
            if finalized and not (answer.get("status") or {}).get("allocation"):
                await self._drop_finalizer(answer)
        elif finalized and claim["metadata"].get("deletionTimestamp") and not remaining:
            if (claim.get("status") or {}).get("allocation"):
                status = {field: value for field, value in claim["status"].items() if field != "allocation"}
                claim = await put_status(self._api, claim, status)
            await self._drop_finalizer(claim)
        if not remaining:
            await self._delete_if_generated(claim)

    async def _keeps(self, claim: Object, reservation: Object) -> bool:
        """Whether a reservation stays: its pod is there and may still run."""
        if is_group_reservation(reservation):
            return await self._keeps_group(claim, reservation)
        if not is_pod_reservation(reservation):
            return True
        if reservation["uid"] in self._view.gone:
            return False
        namespace, name = claim["metadata"]["namespace"], reservation["name"]
        pod = self._view.pods.get(f"{namespace}/{name}")
        if pod is None:
            live = await self._api.find(POD.path(namespace=namespace, name=name))
            return live is not None and live["metadata"]["uid"] == reservation["uid"]
        return pod["metadata"]["uid"] == reservation["uid"] and not is_done(pod)

    async def _keeps_group(self, claim: Object, reservation: Object) -> bool:
        """Whether the reservation of a PodGroup stays: the group is there, whatever its pods do."""
        if reservation["uid"] in self._view.gone:
            return False
        namespace, name = claim["metadata"]["namespace"], reservation["name"]
        group = self._view.groups.get(f"{namespace}/{name}")
        if group is None:
            group = await self._api.find(POD_GROUP.path(namespace=namespace, name=name))
        return group is not None and group["metadata"]["uid"] == reservation["uid"]

    async def _drop_finalizer(self, claim: Object) -> None:
        metadata = claim["metadata"]
        finalizers = [each for each in metadata.get("finalizers") or () if each != FINALIZER]
        body = {**_typed(claim), "metadata": {**metadata, "finalizers": finalizers}}
        path = RESOURCE_CLAIM.path(namespace=metadata["namespace"], name=metadata["name"])
        await self._api.request("PUT", path, body)

    async def _delete_if_generated(self, claim: Object) -> None:
        owner = owning_pod(claim)
        if owner is None:
            return
        namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
        pod = self._view.pods.get(f"{namespace}/{owner[0]}")
        if pod is None or (pod["metadata"]["uid"] == owner[1] and not is_done(pod)):
            return
        try:
            await self._api.request("DELETE", RESOURCE_CLAIM.path(namespace=namespace, name=name))
        except RefusedError as error:
            if error.status != 404:
                raise


async def put_status(api: Api, claim: Object, status: Object) -> Object:
    """Replace a claim's status, provided that the claim is still the one given; the claim as it is then."""
    metadata = claim["metadata"]
    path = RESOURCE_CLAIM.path(namespace=metadata["namespace"], name=metadata["name"], subresource="status")
    return await api.request("PUT", path, {**_typed(claim), "status": status})


def _typed(claim: Object) -> Object:
    """A list's items have no kind of their own; a request's body has."""
    return {"apiVersion": RESOURCE_CLAIM.api_version(), "kind": RESOURCE_CLAIM.kind, **claim}
