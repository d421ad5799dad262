"""Binding a pod to its node: the one write that cannot be taken back.

POST binding --2xx--> bound
  |409 | no answer | 5xx -> read the pod live: on our node: bound | on another, gone, replaced: lost
  |                                            | on none: not bound (409) or once more
  |429 -> wait, once more
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random

from dra_api.transport import TransportError
from dra_scheduler.client.api import Api
from dra_scheduler.client.backoff import Backoff
from dra_scheduler.client.errors import ApiStatusError, ConflictError, NotFoundError
from dra_scheduler.writes.errors import BindLostError, UnknownOutcomeError
from dra_scheduler.writes.guarded_api import (
    ATTEMPTS,
    DELAY_CAP,
    FIRST_DELAY,
    REPEATABLE,
    GuardedApi,
    MayWrite,
    certainly_not_executed,
)
from dra_scheduler.writes.refs import PodRef


@dataclass(frozen=True, slots=True)
class Bound:
    """The pod is on the node. `looked_up`: the server's answer got lost, and the pod was read instead."""

    pod: PodRef
    node: str
    looked_up: bool = False


class BindingWriter:
    """Binds pods."""

    def __init__(self, api: Api, random: Random, may_write: MayWrite = lambda: True) -> None:
        self._api = GuardedApi(api, random, may_write)
        self._random = random

    async def bind(self, pod: PodRef, node: str) -> Bound:
        """Bind the pod to the node.

        Raises BindLostError (not bound to our node, certainly), UnknownOutcomeError (not known and the pod cannot be
        read: keep everything assumed), NotWriterError, or the ApiStatusError that the server insists on (not bound).
        """
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            # With the uid the server refuses to bind a later pod of the same name.
            "metadata": {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        backoff = Backoff(self._random, FIRST_DELAY, DELAY_CAP)
        cause: Exception
        for _ in range(ATTEMPTS):
            try:
                await self._api.create(f"{pod.path}/binding", body)
                return Bound(pod, node)
            except NotFoundError as error:
                raise BindLostError(f"pod {pod}: deleted before it was bound") from error
            except (TransportError, ApiStatusError) as error:
                if isinstance(error, ApiStatusError) and error.status not in REPEATABLE | {409}:
                    raise
                cause = error
            if not certainly_not_executed(cause) and await self._is_bound(pod, node, cause):
                return Bound(pod, node, looked_up=True)
            if isinstance(cause, ConflictError):
                raise BindLostError(f"pod {pod}: not bound: {cause.message}") from cause
            await asyncio.sleep(_delay(cause, backoff))
        if isinstance(cause, ApiStatusError):
            raise cause
        raise BindLostError(f"pod {pod}: not bound after {ATTEMPTS} attempts: {cause}") from cause

    async def is_bound(self, pod: PodRef, node: str) -> bool:
        """Look up live whether the pod is on the node. Raises as `bind` does."""
        return await self._is_bound(pod, node, None)

    async def _is_bound(self, pod: PodRef, node: str, cause: Exception | None) -> bool:
        try:
            live = await self._api.get(pod.path)
        except NotFoundError as error:
            raise BindLostError(f"pod {pod}: deleted meanwhile") from error
        except (TransportError, ApiStatusError) as error:
            raise UnknownOutcomeError(f"pod {pod}: the outcome of binding to {node} is unknown: {error}") from (
                cause or error
            )
        if live["metadata"]["uid"] != pod.uid:
            raise BindLostError(f"pod {pod}: deleted and created anew meanwhile")
        at = (live.get("spec") or {}).get("nodeName") or ""
        if at and at != node:
            raise BindLostError(f"pod {pod}: is bound to node {at}, not {node}") from cause
        return at == node


def _delay(cause: Exception, backoff: Backoff) -> float:
    """Seconds; the server's own wish counts up to the cap."""
    delay = backoff.delay()
    if isinstance(cause, ApiStatusError) and cause.retry_after is not None:
        return min(DELAY_CAP, max(delay, cause.retry_after))
    return delay
