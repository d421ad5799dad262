"""Which feature gates an API server says it has: the metric `kubernetes_feature_enabled`, where we may read it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dra_api.transport import Request, Transport, TransportError

METRICS = "/metrics"
_LINE = re.compile(rb"^kubernetes_feature_enabled\{([^}]*)\} ([01])(?:\.0*)?$", re.MULTILINE)
_NAME = re.compile(rb'name="([^"]+)"')


async def read_gates(transport: Transport) -> Mapping[str, bool] | None:
    """Return gate -> on, or None where the metrics may not be read or do not have it."""
    try:
        response = await transport.send(Request("GET", METRICS))
    except TransportError:
        return None  # larger than we take, or no answer: whoever needs the server notices by other requests
    if response.status != 200:
        return None
    return parse_gates(response.body) or None


def parse_gates(metrics: bytes) -> dict[str, bool]:
    """Return the gates in the text of a metrics page."""
    gates: dict[str, bool] = {}
    for match in _LINE.finditer(metrics):
        name = _NAME.search(match.group(1))
        if name is not None:
            gates[name.group(1).decode("ascii", "replace")] = match.group(2) == b"1"
    return gates
