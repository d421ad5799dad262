"""How many requests have changed something at the API server, by its own count."""

from __future__ import annotations

import re

from dra_api.transport import Request, Transport
from dra_bench.cluster.errors import RaceError

_LINE = re.compile(r"^apiserver_request_total\{(?P<labels>[^}]*)\} (?P<value>\S+)", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
NO_WORK = ("leases", "subjectaccessreviews", "tokenreviews", "selfsubjectaccessreviews")
"""Resources whose requests are no work on pods."""


async def count_writes(transport: Transport) -> int:
    """The number so far, whoever sent them and whether they were accepted or not. Raises RaceError."""
    response = await transport.send(Request("GET", "/metrics"))
    if response.status != 200:
        raise RaceError(f"the API server's metrics cannot be read: status {response.status}")
    return changes(response.body.decode())


def changes(text: str) -> int:
    """The sum over the lines of the metric."""
    total = 0.0
    for line in _LINE.finditer(text):
        labels = dict(_LABEL.findall(line["labels"]))
        if labels.get("verb") in CHANGING and labels.get("resource") not in NO_WORK:
            total += float(line["value"])
    return round(total)
