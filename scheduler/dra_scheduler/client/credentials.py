"""What proves who we are, and how it is renewed: fixed, from a file that rotates, or from a plugin."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from dra_api.clock import Clock
from dra_scheduler.client.errors import ConnectError

REREAD = 60.0
"""Seconds after which a token file is read again; the kubelet renews service account tokens well before they expire."""
EARLY = 0.1
EARLY_CAP = timedelta(minutes=5)
"""A credential is renewed when a tenth of its life is left, at most five minutes."""
RENEW_PAUSE = 5.0
"""Seconds at least between two forced renewals: a server that rejects everything must not keep a plugin running."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Secret:
    """Never shown: it has no readable representation."""

    authorization: str | None = field(default=None, repr=False)
    """The Authorization header."""
    certificate: bytes | None = field(default=None, repr=False)
    """Client certificate, PEM; with `key`."""
    key: bytes | None = field(default=None, repr=False)


def bearer(token: str, source: str) -> str:
    """The Authorization header for a token. Raises ConnectError naming the source if it cannot stand in a header."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ConnectError(f"{source}: {'empty' if not token else 'not one word of printable ASCII'}")
    return f"Bearer {token}"


@dataclass(frozen=True, slots=True)
class Issued:
    """A secret and until when it is good; None: not known."""

    secret: Secret
    expires: datetime | None = None


class Credentials(Protocol):
    """A source of secrets."""

    async def current(self) -> Secret:
        """The secret to use now; quick unless it has to be renewed. Raises ConnectError if there is none."""
        ...

    async def renew(self, rejected: Secret) -> Secret:
        """The server rejected this one: look for a newer one. Returns the same if there is none."""
        ...


class FixedCredentials:
    """A token or a password in the kubeconfig, a client certificate in files, or nothing at all."""

    def __init__(self, secret: Secret) -> None:
        self._secret = secret

    async def current(self) -> Secret:
        """Always the same."""
        return self._secret

    async def renew(self, rejected: Secret) -> Secret:
        """Always the same."""
        return self._secret


class TokenFile:
    """A bearer token in a file that somebody else replaces in time."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._secret: Secret | None = None
        self._read_at = 0.0

    async def current(self) -> Secret:
        """The file's token, at most a minute old. An unreadable file is an error only as long as there is no token."""
        if self._secret is None or self._clock.monotonic() - self._read_at >= REREAD:
            self._read()
        assert self._secret is not None
        return self._secret

    async def renew(self, rejected: Secret) -> Secret:
        """Read the file now."""
        if self._secret in (None, rejected):
            self._read()
        assert self._secret is not None
        return self._secret

    def _read(self) -> None:
        self._read_at = self._clock.monotonic()
        try:
            try:
                token = self._path.read_text("utf-8", "replace")
            except OSError as error:
                raise ConnectError(f"token file {self._path}: {error.strerror}") from None
            self._secret = Secret(authorization=bearer(token, f"token file {self._path}"))
        except ConnectError as error:
            if self._secret is None:
                raise
            log.warning("token not read anew, the old one is used error=%s", error)


class IssuedCredentials:
    """Secrets that `issue` gets: an exec plugin, an OpenID provider. One renewal at a time, whoever asks."""

    def __init__(self, issue: Callable[[], Awaitable[Issued]], clock: Clock) -> None:
        self._issue = issue
        self._clock = clock
        self._lock = asyncio.Lock()
        self._secret: Secret | None = None
        self._renew_at: datetime | None = None
        self._forced_at: float | None = None

    async def current(self) -> Secret:
        """The secret; renewed when it is about to expire. A failure to renew is an error only without a secret."""
        if self._secret is not None and (self._renew_at is None or self._clock.now() < self._renew_at):
            return self._secret
        async with self._lock:
            if self._secret is not None and (self._renew_at is None or self._clock.now() < self._renew_at):
                return self._secret
            return await self._get()

    async def renew(self, rejected: Secret) -> Secret:
        """Get a new secret now, unless that has just happened."""
        async with self._lock:
            if self._secret is not None and self._secret != rejected:
                return self._secret
            now = self._clock.monotonic()
            if self._secret is not None and self._forced_at is not None and now - self._forced_at < RENEW_PAUSE:
                return self._secret
            self._forced_at = now
            return await self._get()

    async def _get(self) -> Secret:
        now = self._clock.now()
        try:
            issued = await self._issue()
        except ConnectError as error:
            if self._secret is None:
                raise
            log.warning("credentials not renewed, the old ones are used error=%s", error)
            self._renew_at = now + timedelta(seconds=RENEW_PAUSE)
            return self._secret
        self._secret = issued.secret
        self._renew_at = None
        if issued.expires is not None:
            early = min((issued.expires - now) * EARLY, EARLY_CAP)
            self._renew_at = max(issued.expires - early, now + timedelta(seconds=RENEW_PAUSE))
        return self._secret
