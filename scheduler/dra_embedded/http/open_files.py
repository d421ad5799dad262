"""How many connections the process may have: each is an open file, and the system limits those.

A process that has none left cannot accept a connection, nor refuse one; so fewer are taken than there are files.
"""

from __future__ import annotations

import resource

RESERVE = 96
"""Open files that are not for connections: the process's own, and those of connections that are about to be refused."""
_UNLIMITED = 1 << 20


def connections_allowed() -> int:
    """How many connections fit, at least one, after the soft limit has been raised to the hard one.

    Raising it is for the whole process, as the runtime of Go does for every Kubernetes component.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # the system has an upper limit of its own, and the soft one stays
            return max(soft - RESERVE, 1)
    return _UNLIMITED if hard == resource.RLIM_INFINITY else max(hard - RESERVE, 1)
