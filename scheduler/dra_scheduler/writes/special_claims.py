"""Making and deleting the claim for a pod's extended resources (KEP-5004).

make:   POST --2xx--> made | 409, no answer -> read by name: ours (made) | another's: another name | none: once more
make:   refused -> read by name: ours (an answer got lost) | none: refused
remove: read claim and pod -> pod has a node: stays | finalizer off -> DELETE with uid and resourceVersion -> gone
                                                                    | finalizers of others: there until they are off

The name is made up here, not by the API server: a POST whose answer got lost is repeated under the same name, and finds
what the first one made.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from dra_api.references import FINALIZER, RESOURCE_CLAIM
from dra_api.transport import TransportError
from dra_api.versions import from_v1, to_v1
from dra_scheduler.client.api import Api, Object
from dra_scheduler.client.discovery import Served
from dra_scheduler.client.errors import ApiStatusError, ConflictError, NotFoundError
from dra_scheduler.writes.claim_bodies import reserved_for
from dra_scheduler.writes.errors import ClaimLostError, ClaimRefusedError, UnknownOutcomeError
from dra_scheduler.writes.guarded_api import REPEATABLE, GuardedApi, MayWrite
from dra_scheduler.writes.refs import ClaimRef, PodRef

ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
ROUNDS = 8
"""How often a claim is tried to be deleted while others change it, and a name is looked for that is free."""
_BASE_MAX = 58
"""Characters of a generated name of 63; five random ones follow."""
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Of the random part: no vowels, no digits that look like letters (as the API server's own names)."""


class SpecialClaimWriter:
    """Creates and deletes special claims, in the served version of resource.k8s.io."""

    def __init__(self, api: Api, served: Served, random: Random, may_write: MayWrite = lambda: True) -> None:
        self._api = GuardedApi(api, random, may_write)
        self._version = served.resource_version
        self._random = random

    def body(self, pod: PodRef, requests: list[Object]) -> Object:
        """Return the claim (v1) to create for a pod, with a name of its own."""
        generate = f"{pod.name}-extended-resources-"
        return {
            "apiVersion": RESOURCE_CLAIM.api_version(),
            "kind": RESOURCE_CLAIM.kind,
            "metadata": {
                "name": self._name(generate),
                "generateName": generate,
                "namespace": pod.namespace,
                "annotations": {ANNOTATION: "true"},
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
                ],
                # It is allocated next, so it comes with what protects it.
                "finalizers": [FINALIZER],
            },
            "spec": {"devices": {"requests": requests}},
        }

    async def make(self, body: Object) -> Object:
        """Create the claim (v1); returns it as v1, as it is on the server.

        Asking again with the same body after UnknownOutcomeError makes no second claim. Raises ClaimRefusedError
        (quota, admission, RBAC), UnknownOutcomeError, NotWriterError.
        """
        meta = body["metadata"]
        where = RESOURCE_CLAIM.path(namespace=meta["namespace"], version=self._version)
        for _ in range(ROUNDS):
            try:
                sent = body if self._version == "v1" else from_v1(body, self._version)
                return to_v1(await self._api.create(where, sent, repeat=True))
            except ConflictError:
                found = await self._find(meta)
                if found is not None:
                    return found
                meta["name"] = self._name(meta["generateName"])
            except TransportError as error:
                raise UnknownOutcomeError(f"ResourceClaim {meta['namespace']}/{meta['name']}: {error}") from error
            except ApiStatusError as error:
                if error.status in REPEATABLE:
                    raise UnknownOutcomeError(f"ResourceClaim {meta['namespace']}/{meta['name']}: {error}") from error
                found = await self._find(meta)
                if found is not None:
                    return found
                raise ClaimRefusedError(meta["namespace"], meta["generateName"], error.message) from error
        raise ClaimRefusedError(meta["namespace"], meta["generateName"], "no free name was found")

    async def remove(self, claim: ClaimRef, pod: PodRef) -> Object | None:
        """Delete the claim unless its pod has a node. None: it is gone; else it is as returned until others let it go.

        Raises ClaimLostError (in use), UnknownOutcomeError, NotWriterError, or what the server insists on.
        """
        path = claim.path(self._version)
        cause: Exception | None = None
        for _ in range(ROUNDS):
            try:
                live = to_v1(await self._api.get(path))
                if live["metadata"]["uid"] != claim.uid:
                    return None
                await self._check_unused(live, claim, pod)
                return await self._delete_once(path, live)
            except NotFoundError:
                return None
            except (ConflictError, TransportError) as error:
                cause = error
            except ApiStatusError as error:
                if error.status < 500:
                    raise
                cause = error
        raise UnknownOutcomeError(f"ResourceClaim {claim}: could not be deleted: {cause}") from cause

    async def _delete_once(self, path: str, live: Object) -> Object | None:
        meta = live["metadata"]
        kept = [each for each in meta.get("finalizers") or () if each != FINALIZER]
        if len(kept) < len(meta.get("finalizers") or ()):
            change = {"metadata": {"resourceVersion": meta["resourceVersion"], "finalizers": kept}}
            live = to_v1(await self._api.patch(path, change))
            meta = live["metadata"]
        if not meta.get("deletionTimestamp"):
            preconditions = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
            answer = await self._api.delete(path, {"preconditions": preconditions})
            live = to_v1(answer) if meta.get("finalizers") else live
        return live if meta.get("finalizers") else None

    async def _check_unused(self, live: Object, claim: ClaimRef, pod: PodRef) -> None:
        """Raise ClaimLostError if somebody may be using the claim: its pod on a node, or another pod."""
        if any(entry.get("uid") != pod.uid for entry in reserved_for(live)):
            raise ClaimLostError(str(claim), "is reserved for another pod, so it stays")
        try:
            owner = await self._api.get(pod.path)
        except NotFoundError:
            return
        if owner["metadata"]["uid"] == pod.uid and (owner.get("spec") or {}).get("nodeName"):
            raise ClaimLostError(str(claim), "its pod has a node, so it stays")

    async def _find(self, meta: Mapping[str, Any]) -> Object | None:
        """Return the claim of that name if it is the one that we were about to make."""
        path = RESOURCE_CLAIM.path(namespace=meta["namespace"], name=meta["name"], version=self._version)
        try:
            found = to_v1(await self._api.get(path))
        except NotFoundError:
            return None
        except (TransportError, ApiStatusError) as error:
            raise UnknownOutcomeError(f"ResourceClaim {meta['namespace']}/{meta['name']}: {error}") from error
        owners = {owner.get("uid") for owner in found["metadata"].get("ownerReferences") or ()}
        return found if meta["ownerReferences"][0]["uid"] in owners else None

    def _name(self, generate: str) -> str:
        return generate[:_BASE_MAX] + "".join(self._random.choice(_ALPHABET) for _ in range(5))
