"""Claims from templates, reservations of hand-bound pods, deallocation and clean-up.

    pod with a template   -> claim (owner: the pod; annotation: which entry) -> pod.status.resourceClaimStatuses
    pod bound by hand     -> reservedFor, once the claim is allocated
    pod done or gone      -> out of reservedFor; nobody left: allocation cleared, then the finalizer
    generated, pod done   -> claim deleted

The rules are kube-controller-manager's (pkg/controller/resourceclaim), for pods; reservations of pod groups stay as
they are.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dra_api.references import FINALIZER, POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dra_api.transport import MERGE_PATCH, Transport
from dra_embedded.claims.index import Index
from dra_embedded.claims.names import (
    CLAIM_NAME_ANNOTATION,
    MAX_RESERVATIONS,
    claim_name,
    claims_of,
    generated_base,
    is_done,
    is_for_pod,
    is_pod_reservation,
    is_reserved_for,
    owning_pod,
    pod_reservation,
    reservations,
)
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.clients.informer import Informer
from dra_embedded.clients.work_queue import WorkQueue
from dra_embedded.errors import EmbeddedError

Object = dict[str, Any]


class TemplateMissingError(EmbeddedError):
    """A pod's ResourceClaimTemplate does not exist (yet). Caused by whoever made the pod; create the template."""


class ClaimController:
    """The controller; `run` it as a task."""

    def __init__(self, transport: Transport) -> None:
        self._api = Api(transport)
        self._pods = Informer(self._api, POD.path(), self._pod_changed)
        self._claims = Informer(self._api, RESOURCE_CLAIM.path(), self._claim_changed)
        self._templates = Informer(self._api, RESOURCE_CLAIM_TEMPLATE.path(), self._template_changed)
        self._index = Index()
        self._gone: set[str] = set()
        self._created: dict[str, Object] = {}  # made by us and not yet seen by the informer
        self.queue = WorkQueue(self._work)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in (self._pods, self._claims, self._templates):
                group.create_task(informer.run())
            for informer in (self._pods, self._claims, self._templates):
                await informer.synced.wait()
            group.create_task(self.queue.run())

    def idle(self) -> bool:
        """Whether nothing is left to do now."""
        return self.queue.idle()

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        pod = new if new is not None else old
        if pod is None:
            return
        self._index.pod_changed(old, new)
        status = pod.get("status") or {}
        if not pod["spec"].get("resourceClaims") and not status.get("extendedResourceClaimStatus"):
            return
        if new is None:
            self._gone.add(pod["metadata"]["uid"])
        elif old is not None and old["metadata"]["uid"] != new["metadata"]["uid"]:
            self._gone.add(old["metadata"]["uid"])
        self._enqueue_pod(pod, deleted=new is None)

    def _enqueue_pod(self, pod: Object, *, deleted: bool = False) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if deleted or is_done(pod):
            for claim in claims_of(pod):
                self.queue.add(f"claim:{namespace}/{claim}")
        if not deleted and self._needs_work(pod):
            self.queue.add(f"pod:{namespace}/{name}")

    def _needs_work(self, pod: Object) -> bool:
        # Also of a pod that has ended: making its claim again would only have it deleted again, for ever.
        if pod["metadata"].get("deletionTimestamp") or is_done(pod):
            return False
        for entry in pod["spec"].get("resourceClaims") or ():
            name = claim_name(pod, entry)
            if name == "":
                continue
            claim = None if name is None else self._claim(pod["metadata"]["namespace"], name)
            if claim is None:
                if entry.get("resourceClaimTemplateName") is not None:
                    return True
            elif pod["spec"].get("nodeName") and self._reservable(claim, pod, entry):
                return True
        return False

    def _claim_changed(self, old: Object | None, new: Object | None) -> None:
        claim = new if new is not None else old
        if claim is None:
            return
        key = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
        self._created.pop(key, None)
        self._index.claim_changed(old, new)
        if new is not None:
            self.queue.add(f"claim:{key}")
        for pod in self._index.pods_of_claim(key):
            found = self._pods.objects.get(pod)
            if found is not None:
                self._enqueue_pod(found)

    def _template_changed(self, _old: Object | None, new: Object | None) -> None:
        if new is None:
            return
        key = f"{new['metadata']['namespace']}/{new['metadata']['name']}"
        for pod in self._index.pods_of_template(key):
            found = self._pods.objects.get(pod)
            if found is not None:
                self._enqueue_pod(found)

    def _claim(self, namespace: str, name: str) -> Object | None:
        key = f"{namespace}/{name}"
        return self._claims.objects.get(key) or self._created.get(key)

    def _reservable(self, claim: Object, pod: Object, entry: Object) -> bool:
        if entry.get("resourceClaimTemplateName") is not None and not is_for_pod(claim, pod):
            return False
        allocated = bool((claim.get("status") or {}).get("allocation"))
        return allocated and not is_reserved_for(claim, pod) and len(reservations(claim)) < MAX_RESERVATIONS

    async def _work(self, key: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "pod":
            await self._sync_pod(name)
        else:
            await self._sync_claim(name)

    async def _sync_pod(self, key: str) -> None:
        pod = self._pods.objects.get(key)
        if pod is None or pod["metadata"].get("deletionTimestamp") or is_done(pod):
            return
        made = {}
        for entry in pod["spec"].get("resourceClaims") or ():
            name = await self._make_claim(pod, entry)
            if name is not None:
                made[entry["name"]] = name
        if made:
            await self._record_names(pod, made)
        if pod["spec"].get("nodeName"):
            for entry in pod["spec"].get("resourceClaims") or ():
                await self._reserve(pod, entry)

    async def _make_claim(self, pod: Object, entry: Object) -> str | None:
        """Make the claim of an entry with a template unless it is there; its name if the pod's status lacks it."""
        template_name = entry.get("resourceClaimTemplateName")
        name = claim_name(pod, entry)
        if template_name is None or name == "":
            return None
        namespace = pod["metadata"]["namespace"]
        if name is not None:
            claim = self._claim(namespace, name)
            if claim is None:
                claim = await self._api.find(RESOURCE_CLAIM.path(namespace=namespace, name=name))
            if claim is not None and is_for_pod(claim, pod):
                return None
        present = self._index.claim_made_for(pod["metadata"]["uid"], entry["name"], self._claims.objects)
        if present is None:
            present = self._made_by_us(pod, entry)
        if present is not None:
            return str(present["metadata"]["name"])
        template = self._templates.objects.get(f"{namespace}/{template_name}")
        if template is None:
            raise TemplateMissingError(f"resource claim template {namespace}/{template_name} does not exist")
        body = _claim_from(template, pod, entry)
        claim = await self._api.request("POST", RESOURCE_CLAIM.path(namespace=namespace), body)
        made = str(claim["metadata"]["name"])
        if f"{namespace}/{made}" not in self._claims.objects:
            self._created[f"{namespace}/{made}"] = claim
        return made

    def _made_by_us(self, pod: Object, entry: Object) -> Object | None:
        for claim in self._created.values():
            annotations = claim["metadata"].get("annotations") or {}
            if is_for_pod(claim, pod) and annotations.get(CLAIM_NAME_ANNOTATION) == entry["name"]:
                return claim
        return None

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
        claim = self._claim(pod["metadata"]["namespace"], name) if name else None
        if claim is None or not self._reservable(claim, pod, entry):
            return
        status = {**claim["status"], "reservedFor": [*reservations(claim), pod_reservation(pod)]}
        await self._put_status(claim, status)

    async def _sync_claim(self, key: str) -> None:
        claim = self._claims.objects.get(key)
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
            answer = await self._put_status(claim, status)
            if finalized and not (answer.get("status") or {}).get("allocation"):
                await self._drop_finalizer(answer)
        elif finalized and claim["metadata"].get("deletionTimestamp") and not remaining:
            if (claim.get("status") or {}).get("allocation"):
                status = {field: value for field, value in claim["status"].items() if field != "allocation"}
                claim = await self._put_status(claim, status)
            await self._drop_finalizer(claim)
        if not remaining:
            await self._delete_if_generated(claim)

    async def _keeps(self, claim: Object, reservation: Object) -> bool:
        """Whether a reservation stays: its pod is there and may still run."""
        if not is_pod_reservation(reservation):
            return True
        if reservation["uid"] in self._gone:
            return False
        namespace, name = claim["metadata"]["namespace"], reservation["name"]
        pod = self._pods.objects.get(f"{namespace}/{name}")
        if pod is None:
            live = await self._api.find(POD.path(namespace=namespace, name=name))
            return live is not None and live["metadata"]["uid"] == reservation["uid"]
        return pod["metadata"]["uid"] == reservation["uid"] and not is_done(pod)

    async def _put_status(self, claim: Object, status: Object) -> Object:
        metadata = claim["metadata"]
        path = RESOURCE_CLAIM.path(namespace=metadata["namespace"], name=metadata["name"], subresource="status")
        return await self._api.request("PUT", path, {**_typed(claim), "status": status})

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
        pod = self._pods.objects.get(f"{namespace}/{owner[0]}")
        if pod is None or (pod["metadata"]["uid"] == owner[1] and not is_done(pod)):
            return
        try:
            await self._api.request("DELETE", RESOURCE_CLAIM.path(namespace=namespace, name=name))
        except RefusedError as error:
            if error.status != 404:
                raise


def _typed(claim: Object) -> Object:
    """A list's items have no kind of their own; a request's body has."""
    return {"apiVersion": RESOURCE_CLAIM.api_version(), "kind": RESOURCE_CLAIM.kind, **claim}


def _claim_from(template: Object, pod: Object, entry: Object) -> Object:
    spec, metadata = template["spec"], template["spec"].get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), CLAIM_NAME_ANNOTATION: entry["name"]}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    made: Object = {
        "generateName": generated_base(pod["metadata"]["name"], entry["name"]),
        "annotations": annotations,
        "ownerReferences": [{**owner, "controller": True}],
    }
    if metadata.get("labels"):
        made["labels"] = metadata["labels"]
    return {"metadata": made, "spec": spec["spec"]}
