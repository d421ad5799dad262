"""Connecting: find the way to the API server, and wait for it if it is not there yet."""

from __future__ import annotations

import asyncio
import logging
from random import Random

from dra_api.clock import Clock
from dra_api.transport import TransportError
from dra_scheduler.client.api import Api
from dra_scheduler.client.backoff import Backoff
from dra_scheduler.client.discovery import Served, discover
from dra_scheduler.client.errors import ApiStatusError
from dra_scheduler.client.http_transport import HttpTransport
from dra_scheduler.client.kubeconfig import find_access
from dra_scheduler.client.trouble import STARTING

RETRY_FIRST = 0.2
RETRY_CAP = 5.0
FORBIDDEN = (
    "RBAC rule missing, trying again: bind the ClusterRoles system:discovery and system:public-info-viewer, which "
    "every user has by default"
)

log = logging.getLogger(__name__)


async def connect(kubeconfig: str | None, context: str | None, clock: Clock) -> HttpTransport:
    """Open a transport; nothing is sent yet.

    `kubeconfig` None: KUBECONFIG, ~/.kube/config, or the pod's service account; `context` None: the current one.
    Raises ConnectError.
    """
    access = await find_access(kubeconfig, context, clock)
    transport = HttpTransport(access.endpoint, access.credentials, clock)
    transport.namespace = access.namespace
    # A plugin or a certificate that cannot work is a mistake to be told now, not an API server that might come back.
    await transport.prepare()
    log.info("connecting server=%s source=%r", access.endpoint.server, access.source)
    if not access.endpoint.tls.verify:
        log.warning("the API server's certificate is not checked (insecure-skip-tls-verify)")
    return transport


async def discover_patiently(api: Api, random: Random, *, patience: float | None = None) -> Served:
    """`discover`, again and again while the API server cannot be reached, is starting (5xx, 429), or forbids it.

    `patience`: seconds after which the last failure is raised; None: never.
    Raises NoResourceApiError, UnauthorizedError and what else trying again does not help against.
    """
    loop = asyncio.get_running_loop()
    deadline = None if patience is None else loop.time() + patience
    backoff = Backoff(random, RETRY_FIRST, RETRY_CAP)
    waiting = _Waiting(loop)
    while True:
        try:
            return await discover(api)
        except (TransportError, ApiStatusError) as error:
            if not waiting.helps(error):
                raise
            delay = backoff.delay()
            if deadline is not None and loop.time() + delay > deadline:
                raise
        await asyncio.sleep(delay)


class _Waiting:
    """Whether waiting helps, and one log line for each reason to wait."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._told: set[str] = set()
        self._was_down = False
        self._up_since: float | None = None

    def helps(self, error: TransportError | ApiStatusError) -> bool:
        if isinstance(error, TransportError):
            self._was_down, self._up_since = True, None
            self._tell("API server not reachable, waiting for it", error)
            return True
        if self._up_since is None:
            self._up_since = self._loop.time()
        if error.status in (401, 403) and self._was_down and self._loop.time() - self._up_since < STARTING:
            return True  # until it has read who there is and what they may, it rejects everybody
        if error.status == 403:
            self._tell(FORBIDDEN, error)
            return True
        if error.status >= 500 or error.status == 429:
            self._tell("API server not ready, waiting for it", error)
            return True
        return False

    def _tell(self, text: str, error: Exception) -> None:
        if text not in self._told:
            self._told.add(text)
            log.warning("%s error=%s", text, error)
