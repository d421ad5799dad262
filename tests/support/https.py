"""A real HTTPS server on loopback with certificates made for it: for tests of the HTTP transport."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files in a folder."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority that lives as long as its folder."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._certificate = self._sign(self._name, self._key.public_key(), ca=True)
        self.file = folder / f"{name.replace(' ', '-')}.crt"
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *hosts: str) -> Certificate:
        """A certificate for a server (`hosts`: names and addresses) or a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signed = self._sign(subject, key.public_key(), hosts)
        files = Certificate(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        files.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        files.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return files

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, hosts: tuple[str, ...] = (), ca: bool = False
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general(host) for host in hosts]), False)
        return builder.sign(self._key, hashes.SHA256())


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@dataclass
class Server:
    """What a running test server has seen."""

    url: str
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)
    """The client's port of each request: the same for the same connection."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def tokens(self) -> list[str | None]:
        return [request.headers.get("Authorization") for request in self.requests]


@asynccontextmanager
async def serve(handler: Handler, tls: Certificate | None = None, clients: Path | None = None) -> AsyncIterator[Server]:
    """Serve every path with `handler`; `clients`: the authority whose client certificates are asked for."""
    server = Server("")

    async def record(request: web.Request) -> web.StreamResponse:
        server.requests.append(request)
        assert request.transport is not None
        server.ports.append(request.transport.get_extra_info("peername")[1])
        server.arrived.set()
        server.bodies.append(await request.read())
        return await handler(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", record)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    context: ssl.SSLContext | None = None
    if tls is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tls.certificate, tls.key)
        if clients is not None:
            context.load_verify_locations(clients)
            context.verify_mode = ssl.CERT_REQUIRED
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"{'https' if tls is not None else 'http'}://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()
