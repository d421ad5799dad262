"""Sockets that notice when the other side is gone."""

from __future__ import annotations

import socket

PROBE_AFTER, PROBE_EVERY, PROBES = 30, 10, 3
"""Seconds of silence before TCP asks whether the other side is there, and so on: half-open watches end in a minute."""


def keep_alive(opened: socket.socket) -> None:
    """Have TCP ask whether the other side is there."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", PROBE_AFTER), ("TCP_KEEPINTVL", PROBE_EVERY), ("TCP_KEEPCNT", PROBES)):
        option = getattr(socket, name, None)  # not every system has all of them
        if option is not None:
            opened.setsockopt(socket.IPPROTO_TCP, option, value)
