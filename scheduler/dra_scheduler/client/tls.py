"""TLS towards an API server: whom to trust, as whom to appear, and noticing that the files have been replaced."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dra_scheduler.client.credentials import Secret
from dra_scheduler.client.errors import ConnectError

Fingerprint = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The files of a connection; None: the system's authorities, no client certificate."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = True
    """False only for `insecure-skip-tls-verify`."""

    def fingerprint(self) -> Fingerprint:
        """Changes when one of the files is replaced: authorities and certificates are rotated under our feet."""
        return tuple(_stat(path) for path in (self.ca, self.certificate, self.key))

    def context(self, secret: Secret) -> ssl.SSLContext:
        """Build the context; a certificate in the secret (an exec plugin's) goes before the files'.

        Raises ConnectError naming the file.
        """
        context = ssl.create_default_context() if self.ca is None or not self.verify else _trusting(self.ca)
        # Go does not insist on all extensions of RFC 5280, and the authorities of many clusters lack some.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if secret.certificate is not None and secret.key is not None:
            _load_pem(context, secret.certificate, secret.key)
        elif self.certificate is not None:
            try:
                context.load_cert_chain(self.certificate, self.key)
            except (OSError, ssl.SSLError) as error:
                raise ConnectError(
                    f"client certificate {self.certificate} with key {self.key}: {_text(error)}"
                ) from error
        return context


def _trusting(ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise ConnectError(f"certificate authority {ca}: {_text(error)}") from error


def _load_pem(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Python reads certificates from files only, so for a moment there is one that nobody else can read."""
    with tempfile.TemporaryDirectory(prefix="dra-scheduler-") as directory:
        path = Path(directory) / "client.pem"
        path.touch(mode=0o600)
        path.write_bytes(certificate.rstrip() + b"\n" + key)
        try:
            context.load_cert_chain(path)
        except (OSError, ssl.SSLError) as error:
            raise ConnectError(f"the client certificate of the exec plugin: {_text(error)}") from None


def _stat(path: str | None) -> tuple[int, int, int] | None:
    if path is None:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _text(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or getattr(error, "reason", None) or error)
