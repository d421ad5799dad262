"""Tables that people read: pods, claims and devices as rich tables, one row each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from dra_scheduler.cli.loading import Object
from dra_scheduler.cli.table import Listing, screen

if TYPE_CHECKING:
    from dra_scheduler.pending import PendingPod

# Output into a pipe or file is never folded: whoever greps it wants whole lines.
_PIPE_WIDTH = 400


def console(stream: IO[str] | None = None) -> Console:
    """A console that draws to the terminal's width, and does not fold lines elsewhere."""
    return screen(stream or sys.stdout, _PIPE_WIDTH)


def make_table(title: str, *columns: str) -> Listing:
    """An empty table with a title and the names of its columns."""
    return Listing(title, columns)


def pod_table(pods: Iterable[Object], pending: Mapping[tuple[str, str], PendingPod]) -> Listing:
    """Namespace, name, node, phase and, for pods without a node, the reason."""
    table = make_table("Pods", "NAMESPACE", "NAME", "NODE", "STATUS", "CLAIMS", "REASON")
    for pod in pods:
        metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
        node = spec.get("nodeName", "")
        waiting = pending.get((metadata["namespace"], metadata["name"]))
        table.add_row(
            metadata["namespace"],
            metadata["name"],
            node or "-",
            Text(status.get("phase", "Pending"), style="" if node else "red"),
            ", ".join(claim_names(pod)) or "-",
            "" if waiting is None or node else waiting.explanation or waiting.reason,
        )
    return table


def claim_names(pod: Object) -> list[str]:
    """The claims of a pod by name, those for its extended resources too."""
    generated = {
        s["name"]: s.get("resourceClaimName") for s in pod.get("status", {}).get("resourceClaimStatuses") or []
    }
    names = []
    for entry in pod["spec"].get("resourceClaims") or []:
        name = entry.get("resourceClaimName") or generated.get(entry["name"])
        names.append(name or f"{entry['name']} (not created)")
    special = pod.get("status", {}).get("extendedResourceClaimStatus") or {}
    if special.get("resourceClaimName"):
        names.append(special["resourceClaimName"])
    return names


def claim_table(claims: Iterable[Object]) -> Listing:
    """Namespace, name, state as kubectl prints it, devices by request, and who it is reserved for."""
    table = make_table("ResourceClaims", "NAMESPACE", "NAME", "STATE", "DEVICES", "RESERVED FOR")
    for claim in claims:
        metadata, status = claim["metadata"], claim.get("status") or {}
        results = (status.get("allocation") or {}).get("devices", {}).get("results") or []
        reserved = status.get("reservedFor") or []
        table.add_row(
            metadata["namespace"],
            metadata["name"],
            claim_state(claim),
            ", ".join(f"{r['request']}: {r['pool']}/{r['device']}" for r in results) or "-",
            ", ".join(r["name"] for r in reserved) or "-",
        )
    return table


def claim_state(claim: Object) -> str:
    """`pending`, `allocated` and `reserved` as in kubectl's STATE column, `deleted` in front where it is going."""
    status = claim.get("status") or {}
    words = ["deleted"] if claim["metadata"].get("deletionTimestamp") else []
    if not status.get("allocation"):
        words.append("pending")
    else:
        words.append("allocated")
        if status.get("reservedFor"):
            words.append("reserved")
    return ",".join(words)


def holders(claims: Iterable[Object]) -> dict[tuple[str, str, str], list[str]]:
    """Claims by device: (driver, pool, device) -> `namespace/name` of each claim that holds it."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for claim in claims:
        metadata = claim["metadata"]
        for result in ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results") or []:
            key = (result["driver"], result["pool"], result["device"])
            found.setdefault(key, []).append(f"{metadata['namespace']}/{metadata['name']}")
    return found


def device_table(slices: Iterable[Object], claims: Iterable[Object]) -> Listing:
    """A row per pool: where it is, its devices as cells, which of them are held."""
    held = holders(claims)
    table = make_table("Devices", "NODE", "DRIVER", "POOL", "DEVICES (* allocated)", "FREE")
    for published in slices:
        spec = published["spec"]
        driver, pool = spec["driver"], spec["pool"]["name"]
        cells, free = Text(), 0
        for device in spec.get("devices") or []:
            taken = (driver, pool, device["name"]) in held
            free += not taken
            cells.append(device["name"] + ("*" if taken else ""), style="bold red" if taken else "green")
            cells.append(" ")
        total = len(spec.get("devices") or [])
        table.add_row(_where(spec), driver, pool, cells, f"{free} of {total}")
    return table


def selector_table(rows: Iterable[tuple[str, str, str, str, str]]) -> Listing:
    """What a selector says: driver, pool, device, result, reason."""
    table = make_table("Selector", "DRIVER", "POOL", "DEVICE", "RESULT", "REASON")
    styles = {"true": "green", "error": "red"}
    for driver, pool, device, result, reason in rows:
        table.add_row(driver, pool, device, Text(result, style=styles.get(result, "")), Text(reason))
    return table


def _where(spec: Object) -> str:
    if spec.get("nodeName"):
        name: str = spec["nodeName"]
        return name
    if spec.get("allNodes"):
        return "(all nodes)"
    return "(by device)" if spec.get("perDeviceNodeSelection") else "(by labels)"
