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

RETRY_FIRST = 0.2
RETRY_CAP = 5.0

log = logging.getLogger(__name__)


async def connect(kubeconfig: str | None, context: str | None, clock: Clock) -> HttpTransport:
    """Open a transport; nothing is sent yet.

    `kubeconfig` None: KUBECONFIG, ~/.kube/config, or the pod's service account; `context` None: the current one.
    Raises ConnectError.
    """
    access = await find_access(kubeconfig, context, clock)
    transport = HttpTransport(access.endpoint, access.credentials, clock)
    # A plugin or a certificate that cannot work is a mistake to be told now, not an API server that might come back.
    await transport.prepare()
    log.info("connecting server=%s source=%r", access.endpoint.server, access.source)
    if not access.endpoint.tls.verify:
        log.warning("the API server's certificate is not checked (insecure-skip-tls-verify)")
    return transport


async def discover_patiently(api: Api, random: Random, *, patience: float | None = None) -> Served:
    """`discover`, again and again while the API server cannot be reached or is starting (5xx, 429).

    `patience`: seconds after which the last failure is raised; None: never.
    Raises NoResourceApiError, UnauthorizedError, ForbiddenError and what else trying again does not help against.
    """
    loop = asyncio.get_running_loop()
    deadline = None if patience is None else loop.time() + patience
    backoff = Backoff(random, RETRY_FIRST, RETRY_CAP)
    told = False
    while True:
        try:
            return await discover(api)
        except (TransportError, ApiStatusError) as error:
            if isinstance(error, ApiStatusError) and error.status < 500 and error.status != 429:
                raise
            delay = backoff.delay()
            if deadline is not None and loop.time() + delay > deadline:
                raise
            if not told:
                log.warning("API server not reachable, waiting for it error=%s", error)
                told = True
        await asyncio.sleep(delay)
