"""Runs bound pods: the stand-in for the kubelets of all nodes.

    bound --- claims allocated and reserved, node fits ---> Running --- annotation or `finish` ---> Succeeded | Failed
      |  no: looked at again when a claim, the pod or its node changes  |  restartPolicy: Running again
      '--------------------- deletionTimestamp --------------------------'--> ended, then removed from the API

A pod says in annotations how long its containers run and how they end: RUN_SECONDS and EXIT_CODE; without the first
they run until the pod is deleted.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dra_api.clock import Clock
from dra_api.references import NODE, POD, RESOURCE_CLAIM
from dra_api.transport import MERGE_PATCH, Transport
from dra_embedded.claims.index import Index
from dra_embedded.clients.api import Api, RefusedError
from dra_embedded.clients.informer import Informer, key_of
from dra_embedded.clients.work_queue import WorkQueue
from dra_embedded.errors import EmbeddedUsageError
from dra_embedded.kubelets.admission import obstacle
from dra_embedded.kubelets.pod_status import ended, restarts, restarts_of, started

Object = dict[str, Any]

RUN_SECONDS = "kubelet.dra-scheduler/run-seconds"
EXIT_CODE = "kubelet.dra-scheduler/exit-code"
_TERMINAL = ("Succeeded", "Failed")
_ROUNDING = 1e-6  # seconds; timers may run that much early


class Kubelet:
    """All nodes' kubelets; `run` it as a task.

    `stop_seconds`: how long containers take to end when their pod is deleted, at most its grace period.
    """

    def __init__(self, transport: Transport, clock: Clock, *, stop_seconds: float = 0.0) -> None:
        self._api = Api(transport)
        self._clock = clock
        self._stop_seconds = stop_seconds
        self._pods = Informer(self._api, POD.path(), self._pod_changed)
        self._claims = Informer(self._api, RESOURCE_CLAIM.path(), self._claim_changed)
        self._nodes = Informer(self._api, NODE.path(), self._node_changed)
        self._index = Index()
        self._bound: dict[str, dict[str, None]] = {}  # node -> keys of pods that are not running yet
        self._ends: dict[str, tuple[str, float]] = {}  # uid -> when its containers end by themselves
        self._stops: dict[str, float] = {}  # uid -> when a deleted pod's containers will have ended
        self._exit_codes: dict[str, int] = {}  # uid -> asked for by `finish`
        self.queue = WorkQueue(self._work)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in (self._nodes, self._claims, self._pods):
                group.create_task(informer.run())
            for informer in (self._nodes, self._claims, self._pods):
                await informer.synced.wait()
            group.create_task(self.queue.run())

    def idle(self) -> bool:
        """Whether nothing is left to do now; containers that will end later do not count."""
        return self.queue.idle()

    def finish(self, namespace: str, name: str, *, exit_code: int = 0) -> None:
        """Let the containers of a running pod end now. Raises EmbeddedUsageError when it is not running."""
        pod = self._pods.objects.get(f"{namespace}/{name}")
        if pod is None or (pod.get("status") or {}).get("phase") != "Running":
            raise EmbeddedUsageError(f"pod {namespace}/{name} is not running, so its containers cannot end")
        self._exit_codes[pod["metadata"]["uid"]] = exit_code
        self.queue.add(key_of(pod))

    def obstacles(self) -> dict[str, str]:
        """Why each bound pod that does not run cannot start, by `namespace/name`."""
        waiting = [key for keys in self._bound.values() for key in keys]
        found = {key: obstacle(self._pods.objects[key], self._claims.objects, self._nodes.objects) for key in waiting}
        return {key: why for key, why in found.items() if why is not None}

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        self._index.pod_changed(old, new)
        if new is None:
            if old is not None:
                self._forget(old)
            return
        node = new["spec"].get("nodeName")
        phase = (new.get("status") or {}).get("phase")
        if not node:
            return
        if phase == "Pending":
            self._bound.setdefault(node, {})[key_of(new)] = None
        else:
            self._bound.get(node, {}).pop(key_of(new), None)
        if phase == "Pending" or (new["metadata"].get("deletionTimestamp") and phase != "Unknown"):
            self.queue.add(key_of(new))

    def _claim_changed(self, old: Object | None, new: Object | None) -> None:
        claim = new if new is not None else old
        if claim is not None:
            for pod in self._index.pods_of_claim(key_of(claim)):
                self._look_again(pod)

    def _node_changed(self, _old: Object | None, new: Object | None) -> None:
        if new is not None:
            for pod in list(self._bound.get(new["metadata"]["name"], ())):
                self._look_again(pod)

    def _look_again(self, key: str) -> None:
        pod = self._pods.objects.get(key)
        if pod is not None and pod["spec"].get("nodeName") and (pod.get("status") or {}).get("phase") == "Pending":
            self.queue.add(key)

    def _forget(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        self._bound.get(pod["spec"].get("nodeName") or "", {}).pop(key_of(pod), None)
        self._ends.pop(uid, None)
        self._stops.pop(uid, None)
        self._exit_codes.pop(uid, None)

    async def _work(self, key: str) -> float | None:
        pod = self._pods.objects.get(key)
        if pod is None or not pod["spec"].get("nodeName"):
            return None
        if pod["metadata"].get("deletionTimestamp"):
            return await self._stop(pod)
        phase = (pod.get("status") or {}).get("phase")
        if phase == "Pending":
            if obstacle(pod, self._claims.objects, self._nodes.objects) is not None:
                return None
            return await self._start(pod, restart_count=0)
        return await self._end_if_due(pod) if phase == "Running" else None

    async def _start(self, pod: Object, *, restart_count: int) -> float | None:
        await self._report(pod, started(pod, self._now(), restarts=restart_count))
        seconds = _run_seconds(pod)
        if seconds is not None:
            self._ends[pod["metadata"]["uid"]] = (key_of(pod), self._clock.monotonic() + seconds)
        return seconds

    async def _end_if_due(self, pod: Object) -> float | None:
        uid = pod["metadata"]["uid"]
        code = self._exit_codes.get(uid)
        if code is None:
            due = self._ends.get(uid)
            if due is None:
                return None
            left = due[1] - self._clock.monotonic()
            if left > _ROUNDING:
                return left
            code = _exit_code(pod)
        if restarts(pod, code):
            self._exit_codes.pop(uid, None)
            return await self._start(pod, restart_count=restarts_of(pod) + 1)
        await self._report(pod, ended(pod, self._now(), code))
        self._exit_codes.pop(uid, None)
        self._ends.pop(uid, None)
        return None

    async def _stop(self, pod: Object) -> float | None:
        """End a deleted pod's containers, report that, and remove the pod from the API."""
        metadata, uid = pod["metadata"], pod["metadata"]["uid"]
        if (pod.get("status") or {}).get("phase") not in _TERMINAL:
            grace = float(metadata.get("deletionGracePeriodSeconds") or 0)
            stop_at = self._stops.setdefault(uid, self._clock.monotonic() + min(self._stop_seconds, grace))
            left = stop_at - self._clock.monotonic()
            if left > _ROUNDING:
                return left
            await self._report(pod, ended(pod, self._now(), 0))
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
        try:
            await self._api.request("DELETE", POD.path(namespace=metadata["namespace"], name=metadata["name"]), body)
        except RefusedError as error:
            if error.status not in (404, 409):  # gone, or replaced by another pod of that name
                raise
        return None

    async def _report(self, pod: Object, status: Object) -> None:
        metadata = pod["metadata"]
        path = POD.path(namespace=metadata["namespace"], name=metadata["name"], subresource="status")
        # With the resourceVersion: the conditions list is replaced whole, and a pod that has changed is looked at anew.
        versions = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        await self._api.request("PATCH", path, {"metadata": versions, "status": status}, content_type=MERGE_PATCH)

    def _now(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _run_seconds(pod: Object) -> float | None:
    text = (pod["metadata"].get("annotations") or {}).get(RUN_SECONDS)
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError as error:
        raise EmbeddedUsageError(f"annotation {RUN_SECONDS} of pod {key_of(pod)} is {text!r}, not seconds") from error


def _exit_code(pod: Object) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(EXIT_CODE, "0")
    try:
        return int(text)
    except ValueError as error:
        raise EmbeddedUsageError(f"annotation {EXIT_CODE} of pod {key_of(pod)} is {text!r}, not a number") from error
