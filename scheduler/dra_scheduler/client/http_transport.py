"""The Transport to a real API server, over aiohttp.

Credentials are asked for with every request and renewed once when the server says 401, which it does before doing
anything, so the request can be sent again. Nothing else is repeated here.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from dra_api.clock import Clock
from dra_api.transport import Request, Response, TransportError, WatchRefusedError
from dra_scheduler.client.credentials import Credentials, Secret
from dra_scheduler.client.errors import ConnectError
from dra_scheduler.client.lines import LineSplitter
from dra_scheduler.client.pool import Pool
from dra_scheduler.client.tls import Fingerprint, TlsFiles

CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 60.0
WRITE_TIMEOUT = 30.0
"""Seconds in all for a request; API servers give up after 60."""
WATCH_SLACK = 30.0
"""Seconds that a watch may take beyond the timeoutSeconds it asks for."""
WATCH_DEFAULT = 600
ANSWER_LIMIT = 256 * 1024 * 1024
"""Bytes of an answer at most."""
CHECK_FILES = 60.0
"""Seconds between two looks at the certificate files."""
USER_AGENT = "dra-scheduler"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an API server is and how to get there."""

    server: str
    """`https://host:port`, perhaps with a path; no slash at the end."""
    tls: TlsFiles
    server_name: str | None = None
    """The name to expect in the certificate, if it is not the host (`tls-server-name`)."""
    proxy: str | None = None


class HttpTransport:
    """A `dra_api.transport.Transport`. Close it with `close`, or use it as an async context manager."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, clock: Clock) -> None:
        self.endpoint = endpoint
        self.namespace = ""
        self._credentials = credentials
        self._clock = clock
        self._pool: Pool | None = None
        self._pool_secret: Secret | None = None
        self._fingerprint: Fingerprint = ()
        self._checked_at = 0.0
        self._retiring: dict[asyncio.Task[None], Pool] = {}
        self._read_limits = aiohttp.ClientTimeout(total=READ_TIMEOUT, sock_connect=CONNECT_TIMEOUT)
        self._write_limits = aiohttp.ClientTimeout(total=WRITE_TIMEOUT, sock_connect=CONNECT_TIMEOUT)

    async def __aenter__(self) -> HttpTransport:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def prepare(self) -> None:
        """Get credentials and read the certificates now, so that a mistake in them is told before anything is sent.

        Raises ConnectError.
        """
        secret = await self._credentials.current()
        self._use(secret, self._context(secret), self.endpoint.tls.fingerprint())

    async def close(self) -> None:
        """Close all connections; what is under way ends with an error."""
        for retiring in self._retiring:
            retiring.cancel()
        for pool in (self._pool, *self._retiring.values()):
            if pool is not None:
                await pool.close()
        self._pool = None

    async def send(self, request: Request) -> Response:
        """Send a request; see Transport.send. Raises TransportError."""
        secret = await self._secret()
        response = await self._exchange(request, secret)
        if response.status == 401:
            renewed = await self._renewed(secret)
            if renewed != secret:
                response = await self._exchange(request, renewed)
        return response

    def watch(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a watch; see Transport.watch. Raises WatchRefusedError, TransportError."""
        return self._watch(request)

    @asynccontextmanager
    async def _watch(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        secret = await self._secret()
        async with contextlib.AsyncExitStack() as stack:
            answer = await stack.enter_async_context(self._watch_answer(request, secret))
            if answer.status == 401 and (renewed := await self._renewed(secret)) != secret:
                answer = await stack.enter_async_context(self._watch_answer(request, renewed))
            if answer.status != 200:
                raise WatchRefusedError(await _response(answer))
            yield await stack.enter_async_context(contextlib.aclosing(_lines(answer)))

    @asynccontextmanager
    async def _watch_answer(self, request: Request, secret: Secret) -> AsyncIterator[aiohttp.ClientResponse]:
        total = int(request.query.get("timeoutSeconds", WATCH_DEFAULT)) + WATCH_SLACK
        limits = aiohttp.ClientTimeout(total=total, sock_connect=CONNECT_TIMEOUT)
        with self._pool_for(secret) as session:
            answer = await self._request(session, request, secret, limits)
            async with answer:
                try:
                    yield answer
                finally:
                    # A watch that is left is of no use any more; closing it politely would take a farewell of TLS that
                    # some servers answer late, and nobody would be there to hear it.
                    if answer.connection is not None and answer.connection.transport is not None:
                        answer.connection.transport.abort()

    async def _exchange(self, request: Request, secret: Secret) -> Response:
        limits = self._read_limits if request.method == "GET" else self._write_limits
        with self._pool_for(secret) as session:
            answer = await self._request(session, request, secret, limits)
            async with answer:
                return await _response(answer)

    async def _request(
        self, session: aiohttp.ClientSession, request: Request, secret: Secret, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """Send, and wait for the answer's head."""
        # Compression costs both sides more time than it saves on the networks that API servers are reached by.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": USER_AGENT}
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        if secret.authorization is not None:
            headers["Authorization"] = secret.authorization
        try:
            return await session.request(
                request.method,
                self._url(request),
                data=request.body,
                headers=headers,
                timeout=limits,
                allow_redirects=False,
                server_hostname=self.endpoint.server_name,
                proxy=self.endpoint.proxy,
            )
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise _no_answer(error) from error

    def _url(self, request: Request) -> URL:
        query = f"?{urlencode(request.query)}" if request.query else ""
        return URL(f"{self.endpoint.server}{request.path}{query}", encoded=True)

    async def _secret(self) -> Secret:
        try:
            return await self._credentials.current()
        except ConnectError as error:
            raise TransportError(str(error), sent=False) from error

    async def _renewed(self, rejected: Secret) -> Secret:
        try:
            return await self._credentials.renew(rejected)
        except ConnectError as error:
            raise TransportError(str(error), sent=False) from error

    def _pool_for(self, secret: Secret) -> Pool:
        """The pool, made anew when the certificate in the secret or one of the files has changed."""
        now = self._clock.monotonic()
        if self._pool is not None and self._same_certificate(secret) and now - self._checked_at < CHECK_FILES:
            return self._pool
        self._checked_at = now
        fingerprint = self.endpoint.tls.fingerprint()
        if self._pool is not None and self._same_certificate(secret) and fingerprint == self._fingerprint:
            return self._pool
        try:
            context = self._context(secret)
        except ConnectError as error:
            if self._pool is not None and self._same_certificate(secret):
                return self._pool  # caught in the middle of being replaced: the next look will do
            raise TransportError(str(error), sent=False) from error
        return self._use(secret, context, fingerprint)

    def _use(self, secret: Secret, context: ssl.SSLContext | None, fingerprint: Fingerprint) -> Pool:
        """Make a new pool for the requests from now on; the old one ends with what is under way in it."""
        if self._pool is not None:
            retiring = asyncio.create_task(self._pool.retire(), name="old connections")
            self._retiring[retiring] = self._pool
            retiring.add_done_callback(self._retiring.pop)
        pool = self._pool = Pool(context)
        self._pool_secret, self._fingerprint, self._checked_at = secret, fingerprint, self._clock.monotonic()
        return pool

    def _same_certificate(self, secret: Secret) -> bool:
        known = self._pool_secret
        return known is not None and (known.certificate, known.key) == (secret.certificate, secret.key)

    def _context(self, secret: Secret) -> ssl.SSLContext | None:
        return self.endpoint.tls.context(secret) if self.endpoint.server.startswith("https:") else None


async def _response(answer: aiohttp.ClientResponse) -> Response:
    headers: Mapping[str, str] = {name.lower(): value for name, value in answer.headers.items()}
    return Response(answer.status, await _body(answer), headers)


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    length = answer.content_length
    if length is not None and length > ANSWER_LIMIT:
        raise TransportError(f"the answer is larger than {ANSWER_LIMIT} bytes")
    chunks: list[bytes] = []
    size = 0
    try:
        if length is not None and "Content-Encoding" not in answer.headers:
            return await answer.read()
        async for chunk in answer.content.iter_any():
            size += len(chunk)
            if size > ANSWER_LIMIT:
                raise TransportError(f"the answer is larger than {ANSWER_LIMIT} bytes")
            chunks.append(chunk)
    except (aiohttp.ClientError, OSError) as error:
        raise _no_answer(error) from error
    return b"".join(chunks)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    splitter = LineSplitter()
    try:
        async for chunk in answer.content.iter_any():
            for line in splitter.feed(chunk):
                yield line
    except (aiohttp.ClientError, OSError) as error:
        raise _no_answer(error) from error


def _no_answer(error: Exception) -> TransportError:
    """Translate; what failed while connecting has certainly not reached the server."""
    never = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.InvalidURL)
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return TransportError(f"TLS: {error}", sent=False)
    if isinstance(error, TimeoutError):
        return TransportError("connecting timed out" if never else "no answer in time", sent=not never)
    return TransportError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, sent=not never)
