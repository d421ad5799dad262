"""A certificate authority and a server certificate, made for one run and forgotten with it."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

LIFETIME = datetime.timedelta(days=30)
SLACK = datetime.timedelta(minutes=5)
"""Clocks that are a little behind accept the certificate, too."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM: the authority's certificate; the server's certificate and its private key."""

    authority: bytes
    certificate: bytes
    key: bytes

    def context(self, folder: Path) -> ssl.SSLContext:
        """The server's side of TLS. The key lies in the folder, readable by its owner only, while it is loaded."""
        chain, key = folder / "server.crt", folder / "server.key"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            key.touch(mode=0o600)
            key.write_bytes(self.key)
            chain.write_bytes(self.certificate)
            context.load_cert_chain(chain, key)
        finally:
            key.unlink(missing_ok=True)
            chain.unlink(missing_ok=True)
        return context


def new_certificates(hosts: tuple[str, ...], now: datetime.datetime) -> Certificates:
    """Make certificates for names and addresses, valid from now on."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = _name("dra-scheduler embedded cluster")
    constraints = x509.BasicConstraints(ca=True, path_length=0)
    authority = _builder(ca_name, ca_name, ca_key, now).add_extension(constraints, critical=True)
    names = x509.SubjectAlternativeName([_host(host) for host in hosts])
    server = _builder(_name("kube-apiserver"), ca_name, key, now).add_extension(names, critical=False)
    return Certificates(
        authority.sign(ca_key, hashes.SHA256()).public_bytes(Encoding.PEM),
        server.sign(ca_key, hashes.SHA256()).public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SLACK)
        .not_valid_after(now + LIFETIME)
    )
