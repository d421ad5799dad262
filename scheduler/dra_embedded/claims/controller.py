"""Claims from templates, reservations of hand-bound pods, deallocation and clean-up.

    pod with a template   -> claim (owner: the pod; annotation: which entry) -> pod.status.resourceClaimStatuses
    pod bound by hand     -> reservedFor, once the claim is allocated
    pod done or gone      -> out of reservedFor; nobody left: allocation cleared, then the finalizer
    generated, pod done   -> claim deleted

    PodGroup with a template -> claim (owner: the group) -> status.resourceClaimStatuses, of the group and of its pods

The rules are kube-controller-manager's (pkg/controller/resourceclaim).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from dra_api.clock import Clock
from dra_api.references import POD, POD_GROUP, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dra_api.transport import Transport
from dra_embedded.claims.claim_sync import ClaimSync
from dra_embedded.claims.complaints import Complaints
from dra_embedded.claims.group_sync import GroupSync
from dra_embedded.claims.names import claims_of, is_done, owning_group
from dra_embedded.claims.pod_sync import PodSync
from dra_embedded.claims.view import View
from dra_embedded.clients.api import Api
from dra_embedded.clients.informer import Informer, key_of
from dra_embedded.clients.work_queue import WorkQueue

Object = dict[str, Any]

_POD, _CLAIM, _GROUP = "pod:", "claim:", "podgroup:"


class ClaimController:
    """The controller; `run` it as a task."""

    def __init__(self, transport: Transport, clock: Clock) -> None:
        api = Api(transport)
        self._pods = Informer(api, POD.path(), self._pod_changed)
        self._claims = Informer(api, RESOURCE_CLAIM.path(), self._claim_changed)
        self._templates = Informer(api, RESOURCE_CLAIM_TEMPLATE.path(), self._template_changed)
        self._groups = Informer(api, POD_GROUP.path(), self._group_changed)
        self._view = View(self._pods.objects, self._claims.objects, self._templates.objects, self._groups.objects)
        complaints = Complaints(api, clock)
        self._pod_sync = PodSync(api, self._view, complaints)
        self._group_sync = GroupSync(api, self._view, complaints)
        self._claim_sync = ClaimSync(api, self._view)
        self.queue = WorkQueue(self._work)

    async def run(self) -> None:
        """Work until cancelled."""
        informers = (self._groups, self._pods, self._claims, self._templates)
        async with asyncio.TaskGroup() as group:
            for informer in informers:
                group.create_task(informer.run())
            for informer in informers:
                await informer.synced.wait()
            group.create_task(self.queue.run())

    def idle(self) -> bool:
        """Whether nothing is left to do now."""
        return self.queue.idle()

    async def _work(self, key: str) -> None:
        if key.startswith(_POD):
            await self._pod_sync.sync(key.removeprefix(_POD))
        elif key.startswith(_GROUP):
            await self._group_sync.sync(key.removeprefix(_GROUP))
        else:
            await self._claim_sync.sync(key.removeprefix(_CLAIM))

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        self._view.index.pod_changed(old, new)
        if old is not None and (new is None or old["metadata"]["uid"] != new["metadata"]["uid"]):
            self._view.forget(old["metadata"]["uid"])
            self._release_claims(old)
        if new is not None:
            self._look_at(new)

    def _group_changed(self, old: Object | None, new: Object | None) -> None:
        self._view.index.group_changed(old, new)
        group = new if new is not None else old
        if group is None:
            return
        if old is not None and (new is None or old["metadata"]["uid"] != new["metadata"]["uid"]):
            self._view.forget(old["metadata"]["uid"])
            self._release_claims(old)
        if new is not None and self._group_sync.needed(new):
            self.queue.add(_GROUP + key_of(new))
        self._look_at_all(self._view.index.pods_of_group(key_of(group)))

    def _look_at(self, pod: Object) -> None:
        if is_done(pod):
            self._release_claims(pod)
        if self._pod_sync.needed(pod):
            self.queue.add(_POD + key_of(pod))

    def _release_claims(self, user: Object) -> None:
        """Look at the claims of a pod or PodGroup that does not need them any more."""
        namespace = user["metadata"]["namespace"]
        for claim in claims_of(user):
            self.queue.add(f"{_CLAIM}{namespace}/{claim}")

    def _claim_changed(self, old: Object | None, new: Object | None) -> None:
        self._view.index.claim_changed(old, new)
        claim = new if new is not None else old
        if claim is None:
            return
        key = key_of(claim)
        if new is not None:
            self.queue.add(_CLAIM + key)
        owner = owning_group(claim)
        if owner is not None:
            # Its pods take their claim's name from it.
            self._look_at_all(self._view.index.pods_of_group(f"{claim['metadata']['namespace']}/{owner[0]}"))
        self._look_at_groups(self._view.index.groups_of_claim(key))
        self._look_at_all(self._view.index.pods_of_claim(key))

    def _template_changed(self, _old: Object | None, new: Object | None) -> None:
        if new is not None:
            self._look_at_groups(self._view.index.groups_of_template(key_of(new)))
            self._look_at_all(self._view.index.pods_of_template(key_of(new)))

    def _look_at_all(self, pods: Iterable[str]) -> None:
        for key in pods:
            pod = self._pods.objects.get(key)
            if pod is not None:
                self._look_at(pod)

    def _look_at_groups(self, keys: Iterable[str]) -> None:
        for key in keys:
            group = self._groups.objects.get(key)
            if group is not None and self._group_sync.needed(group):
                self.queue.add(_GROUP + key)
