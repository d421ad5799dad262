"""The options of commands that keep a cluster for kubectl."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_embedded.http.listener import Place


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add `--listen`, `--beyond-loopback` and `--kubeconfig`."""
    parser.add_argument(
        "--listen",
        type=_address,
        default=("127.0.0.1", 0),
        metavar="ADDRESS[:PORT]",
        help="where kubectl finds the cluster; default: 127.0.0.1 and any free port",
    )
    parser.add_argument(
        "--beyond-loopback",
        action="store_true",
        help="allow an address that can be reached from elsewhere: whoever has the token may do everything",
    )
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="write it there; default: a temporary folder")


def place_of(arguments: argparse.Namespace) -> Place:
    """Where to listen."""
    from dra_embedded.http.listener import Place

    host, port = arguments.listen
    return Place(host, port, everywhere=arguments.beyond_loopback)


def _address(text: str) -> tuple[str, int]:
    """`127.0.0.1`, `127.0.0.1:6443`, `::1`, `[::1]:6443`."""
    is_bare = ":" not in text or text.endswith("]") or ("[" not in text and text.count(":") > 1)
    host, port = (text, "0") if is_bare else text.rsplit(":", 1)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} has no port from 0 to 65535 after its last colon")
    return host, int(port)
