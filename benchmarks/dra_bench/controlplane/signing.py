"""The key that the API server signs ServiceAccount tokens with."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


def new_signing_key() -> bytes:
    """Return a new private P-256 key as PEM; the API server derives the public one from the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
