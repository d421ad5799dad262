"""A PodGroup's side: claims from its templates, their names in its status (KEP-5729)."""

from __future__ import annotations

from typing import Any

from dra_api.references import POD_GROUP, RESOURCE_CLAIM
from dra_api.transport import MERGE_PATCH
from dra_embedded.claims.complaints import Complaints
from dra_embedded.claims.names import claim_from, claim_name, owning_group
from dra_embedded.claims.pod_sync import TemplateMissingError
from dra_embedded.claims.view import View
from dra_embedded.clients.api import Api, RefusedError

Object = dict[str, Any]


class GroupSync:
    """Works on one PodGroup at a time."""

    def __init__(self, api: Api, view: View, complaints: Complaints) -> None:
        self._api = api
        self._view = view
        self._complaints = complaints

    def needed(self, group: Object) -> bool:
        """Whether a claim has to be made, or its name recorded."""
        if group["metadata"].get("deletionTimestamp"):
            return False
        return any(self._lacks(group, entry) for entry in group["spec"].get("resourceClaims") or ())

    def _lacks(self, group: Object, entry: Object) -> bool:
        name = claim_name(group, entry)
        if entry.get("resourceClaimTemplateName") is None or name == "":
            return False
        return name is None or f"{group['metadata']['namespace']}/{name}" not in self._view.claims

    async def sync(self, key: str) -> None:
        """Make what is missing. Raises TemplateMissingError, RefusedError."""
        group = self._view.groups.get(key)
        if group is None or group["metadata"].get("deletionTimestamp"):
            return
        made = {}
        for entry in group["spec"].get("resourceClaims") or ():
            try:
                name = await self._make_claim(group, entry)
            except (TemplateMissingError, RefusedError) as error:
                await self._complaints.about(POD_GROUP, group, entry, error)
                raise
            if name is not None:
                made[entry["name"]] = name
        if made:
            await self._record_names(group, made)

    async def _make_claim(self, group: Object, entry: Object) -> str | None:
        """Make the claim of an entry with a template unless it is there; its name if the status lacks it."""
        template_name, name = entry.get("resourceClaimTemplateName"), claim_name(group, entry)
        if template_name is None or name == "":
            return None
        namespace, uid = group["metadata"]["namespace"], group["metadata"]["uid"]
        if name is not None and await self._is_there(group, name):
            return None
        present = self._view.index.claim_made_for(uid, entry["name"], self._view.claims)
        if present is None:
            present = self._view.created.made_for(uid, entry["name"])
        if present is not None:
            return str(present["metadata"]["name"])
        template = self._view.templates.get(f"{namespace}/{template_name}")
        if template is None:
            raise TemplateMissingError(f"resource claim template {namespace}/{template_name} does not exist")
        body = claim_from(template, POD_GROUP, group, entry)
        claim = await self._api.request("POST", RESOURCE_CLAIM.path(namespace=namespace), body)
        self._view.created.add(claim)
        return str(claim["metadata"]["name"])

    async def _is_there(self, group: Object, name: str) -> bool:
        metadata = group["metadata"]
        claim = self._view.created.get(f"{metadata['namespace']}/{name}")
        if claim is None:
            claim = await self._api.find(RESOURCE_CLAIM.path(namespace=metadata["namespace"], name=name))
        return claim is not None and owning_group(claim) == (metadata["name"], metadata["uid"])

    async def _record_names(self, group: Object, made: dict[str, str]) -> None:
        present = (group.get("status") or {}).get("resourceClaimStatuses") or ()
        names = {each["name"]: each["resourceClaimName"] for each in present if each.get("resourceClaimName")}
        names.update(made)
        statuses = [{"name": entry, "resourceClaimName": names[entry]} for entry in sorted(names)]
        metadata = group["metadata"]
        path = POD_GROUP.path(namespace=metadata["namespace"], name=metadata["name"], subresource="status")
        body = {"metadata": {"uid": metadata["uid"]}, "status": {"resourceClaimStatuses": statuses}}
        await self._api.request("PATCH", path, body, content_type=MERGE_PATCH)
