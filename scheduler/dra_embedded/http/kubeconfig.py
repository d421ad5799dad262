"""The file by which kubectl and other clients find the embedded cluster."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
from pathlib import Path

import orjson

from dra_embedded.errors import EmbeddedError

NAME = "dra-scheduler-embedded"


class KubeconfigError(EmbeddedError):
    """The kubeconfig cannot be written where it was asked for: the text names the path and the reason."""


def kubeconfig(server: str, authority: bytes | None, token: str) -> bytes:
    """The content; JSON is YAML. `authority` None: plain HTTP."""
    cluster: dict[str, object] = {"server": server}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}],
        "current-context": NAME,
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"


def write_kubeconfig(path: Path, content: bytes) -> None:
    """Write it in one step, readable by its owner only: it holds a token.

    What an earlier run left is replaced; another kubeconfig, which somebody would miss, is not. Raises KubeconfigError.
    """
    try:
        if path.exists() and not _is_ours(path.read_bytes()):
            raise KubeconfigError(f"{path}: there is another kubeconfig, which would be lost: choose another file")
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise KubeconfigError(f"{path}: the kubeconfig cannot be written: {error.strerror}") from error


def remove_kubeconfig(path: Path, content: bytes) -> None:
    """Remove what was written, unless another run has replaced it."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == content:
            path.unlink()


def _is_ours(content: bytes) -> bool:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return False
    return isinstance(found, dict) and found.get("current-context") == NAME
