"""Free loopback ports outside the range that the kernel hands out to outgoing connections.

A port inside that range is a trap for a server that is stopped and started again: a client that keeps reconnecting
to it is sooner or later given that very port as its own, connects to itself, and the server finds its port taken.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path
from typing import Final

from dra_bench.controlplane.errors import ControlPlaneError

LOOPBACK: Final = "127.0.0.1"
LOWEST: Final = 10_000
EPHEMERAL_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
DEFAULT_EPHEMERAL_START: Final = 32_768
ATTEMPTS: Final = 1_000


def ephemeral_start(source: Path = EPHEMERAL_RANGE) -> int:
    """Return the lowest port of outgoing connections (Linux: from procfs; else Linux's default)."""
    try:
        return int(source.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return DEFAULT_EPHEMERAL_START


def is_free(port: int) -> bool:
    """Return whether a server could listen on ``port`` of the loopback address right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)  # bind alone succeeds beside a listener that reuses addresses
        except OSError:
            return False
    return True


def pick_ports(count: int, *, chooser: random.Random | None = None, start: int | None = None) -> list[int]:
    """Return ``count`` different ports that are free now.

    Nothing reserves them: another process may take one before it is used, and whoever uses them has to be ready to
    pick again. ``start`` is the lowest ephemeral port (default: the kernel's setting).

    Raises:
        ControlPlaneError: there are not enough free ports.

    """
    draw = random.SystemRandom() if chooser is None else chooser
    upper = ephemeral_start() if start is None else start
    if upper - LOWEST < count:  # an unusual setting: rather the trap than no port at all
        upper = 65_536
    chosen: list[int] = []
    for _ in range(ATTEMPTS):
        if len(chosen) == count:
            return chosen
        port = draw.randrange(LOWEST, upper)
        if port not in chosen and is_free(port):
            chosen.append(port)
    raise ControlPlaneError(f"found only {len(chosen)} of {count} free ports between {LOWEST} and {upper}")
