"""A pod's side: claims from its templates, their names in its status, reservations if it was bound by hand."""

from __future__ import annotations

from typing import Any

from dra_api.references import POD, RESOURCE_CLAIM
from dra_api.transport import MERGE_PATCH
from dra_embedded.claims.claim_sync import put_status
from dra_embedded.claims.complaints import Complaints
from dra_embedded.claims.names import (
    MAX_RESERVATIONS,
    claim_from,
    claim_name,
    group_name,
    group_reservation,
    is_done,
    is_for_pod,
    is_of_group,
    is_reserved_for,
    pod_reservation,
    reservations,
)
from dra_embedded.claims.view import View
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.errors import EmbeddedError

Object = dict[str, Any]


class TemplateMissingError(EmbeddedError):
    """A pod's ResourceClaimTemplate does not exist (yet). Caused by whoever made the pod; create the template."""


class PodSync:
    """Works on one pod at a time."""

    def __init__(self, api: Api, view: View, complaints: Complaints) -> None:
        self._api = api
        self._view = view
        self._complaints = complaints

    def needed(self, pod: Object) -> bool:
        """Whether there is something to do for a pod.

        Not for one that has ended, either: making its claim again would only have it deleted again, for ever.
        """
        if pod["metadata"].get("deletionTimestamp") or is_done(pod):
            return False
        for entry in pod["spec"].get("resourceClaims") or ():
            name = claim_name(pod, entry)
            if name == "":
                continue
            claim = self._view.claims.get(f"{pod['metadata']['namespace']}/{name}")
            if claim is None:
                if entry.get("resourceClaimTemplateName") is not None:
                    return True
            elif pod["spec"].get("nodeName") and _reservable(claim, pod, entry):
                return True
        return False

    async def sync(self, key: str) -> None:
        """Do what there is to do. Raises TemplateMissingError, RefusedError."""
        pod = self._view.pods.get(key)
        if pod is None or pod["metadata"].get("deletionTimestamp") or is_done(pod):
            return
        made = {}
        for entry in pod["spec"].get("resourceClaims") or ():
            try:
                name = await self._make_claim(pod, entry)
            except (TemplateMissingError, RefusedError) as error:
                await self._complaints.about(POD, pod, entry, error)
                raise
            if name is not None:
                made[entry["name"]] = name
        if made:
            await self._record_names(pod, made)
        if pod["spec"].get("nodeName"):
            for entry in pod["spec"].get("resourceClaims") or ():
                await self._reserve(pod, entry)

    async def _make_claim(self, pod: Object, entry: Object) -> str | None:
        """Make the claim of an entry with a template unless it is there; its name if the pod's status lacks it."""
        template_name, name = entry.get("resourceClaimTemplateName"), claim_name(pod, entry)
        if template_name is None or name == "":
            return None
        namespace, uid = pod["metadata"]["namespace"], pod["metadata"]["uid"]
        if name is not None and await self._is_there(pod, name):
            return None
        group = self._view.group_of(pod)
        if group_name(pod) is not None and group is None:
            return None  # whose claim it is cannot be told before the group is there
        of_group = group is not None and is_of_group(entry, group)
        owner = group["metadata"]["uid"] if group is not None and of_group else uid
        present = self._view.index.claim_made_for(owner, entry["name"], self._view.claims)
        if present is None:
            present = self._view.created.made_for(owner, entry["name"])
        if present is not None:
            return str(present["metadata"]["name"])
        if of_group:
            return None  # made for the group first
        template = self._view.templates.get(f"{namespace}/{template_name}")
        if template is None:
            raise TemplateMissingError(f"resource claim template {namespace}/{template_name} does not exist")
        body = claim_from(template, POD, pod, entry)
        claim = await self._api.request("POST", RESOURCE_CLAIM.path(namespace=namespace), body)
        self._view.created.add(claim)
        return str(claim["metadata"]["name"])

    async def _is_there(self, pod: Object, name: str) -> bool:
        namespace = pod["metadata"]["namespace"]
        claim = self._view.created.get(f"{namespace}/{name}")
        if claim is None:
            claim = await self._api.find(RESOURCE_CLAIM.path(namespace=namespace, name=name))
        return claim is not None and is_for_pod(claim, pod)

    async def _record_names(self, pod: Object, made: dict[str, str]) -> None:
        present = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
        names = {each["name"]: each["resourceClaimName"] for each in present if each.get("resourceClaimName")}
        names.update(made)
        statuses = [{"name": entry, "resourceClaimName": names[entry]} for entry in sorted(names)]
        metadata = pod["metadata"]
        path = POD.path(namespace=metadata["namespace"], name=metadata["name"], subresource="status")
        body = {"metadata": {"uid": metadata["uid"]}, "status": {"resourceClaimStatuses": statuses}}
        await self._api.request("PATCH", path, body, content_type=MERGE_PATCH)

    async def _reserve(self, pod: Object, entry: Object) -> None:
        name = claim_name(pod, entry)
        claim = self._view.claims.get(f"{pod['metadata']['namespace']}/{name}") if name else None
        if claim is not None and _reservable(claim, pod, entry):
            group = self._view.group_of(pod)
            of_group = group is not None and is_of_group(entry, group)
            user = group_reservation(group) if group is not None and of_group else pod_reservation(pod)
            status = {**claim["status"], "reservedFor": [*reservations(claim), user]}
            await put_status(self._api, claim, status)


def _reservable(claim: Object, pod: Object, entry: Object) -> bool:
    if entry.get("resourceClaimTemplateName") is not None and not is_for_pod(claim, pod):
        return False
    allocated = bool((claim.get("status") or {}).get("allocation"))
    return allocated and not is_reserved_for(claim, pod) and len(reservations(claim)) < MAX_RESERVATIONS
