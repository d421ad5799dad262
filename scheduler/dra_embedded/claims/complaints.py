"""Events of the claim controller, about pods whose claims it cannot make; each thing is said once."""

from __future__ import annotations

from typing import Any

from dra_api.clock import Clock
from dra_api.references import CORE_EVENT, Resource
from dra_embedded.clients.api import Api

Object = dict[str, Any]

REASON = "FailedResourceClaimCreation"
_COMPONENT = "resource_claim"
_REMEMBERED = 10_000


class Complaints:
    """Writes events to core/v1, as kube-controller-manager does."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._written = 0
        self._said: dict[tuple[str, str], None] = {}  # (uid of the pod, message), oldest first

    async def about(self, resource: Resource, owner: Object, entry: Object, problem: Exception) -> None:
        """Say that the claim of an entry of a pod or PodGroup could not be made. Raises RefusedError."""
        metadata = owner["metadata"]
        message = f"{resource.kind}ResourceClaim {entry['name']}: {problem}"
        if (metadata["uid"], message) in self._said:
            return
        now = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        involved = {"kind": resource.kind, "apiVersion": resource.api_version(), "namespace": metadata["namespace"]}
        event = {
            "metadata": {"name": self._new_name(metadata["name"])},
            "involvedObject": {
                **involved,
                "name": metadata["name"],
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "reason": REASON,
            "message": message,
            "type": "Warning",
            "source": {"component": _COMPONENT},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        await self._api.request("POST", CORE_EVENT.path(namespace=metadata["namespace"]), event)
        self._said[(metadata["uid"], message)] = None
        while len(self._said) > _REMEMBERED:
            del self._said[next(iter(self._said))]

    def _new_name(self, pod: str) -> str:
        """A name that no other event has: the pod's, the time and a number."""
        self._written += 1
        nanoseconds = int(self._clock.now().timestamp() * 1e9)
        return f"{pod}.{nanoseconds:x}{self._written:x}"
