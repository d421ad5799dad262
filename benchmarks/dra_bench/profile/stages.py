"""What a call is for: the stages of a pod's way, found from the modules and functions that are under way."""

from __future__ import annotations

from collections.abc import Sequence

HTTP = ("aiohttp", "yarl", "multidict", "ssl", "frozenlist", "dra_scheduler.client.http_transport", "asyncio.sslproto")
SOCKETS = ("asyncio.selector_events", "asyncio.streams", "asyncio.sslproto")

START = "start"
DEVICES = "decide: devices"
FILTERS = "decide: filters, score, commit"
DECIDING = (DEVICES, FILTERS)
FIRST_WRITE = "write: finalizer"
CEILING = "dra_bench.cluster.ceiling:Writer"
RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    # The first rule of which a call under way begins with one of the words says the stage.
    (
        START,
        (
            "dra_scheduler.client.reflector:Reflector._list",
            "dra_scheduler.process:_settle_memory",
            "importlib.",
            "<frozen importlib",
            "dra_scheduler.client.discovery",
            "dra_scheduler.client.kubeconfig",
        ),
    ),
    (FIRST_WRITE, ("dra_scheduler.writes.claim_writer:ClaimWriter._protect", f"{CEILING}._finalizer")),
    (
        "write: event",
        ("dra_scheduler.writes.event_writer:EventWriter._", "dra_scheduler.writes.outbox:", f"{CEILING}._event"),
    ),
    ("write: binding", ("dra_scheduler.writes.binding_writer:", f"{CEILING}._bind")),
    ("write: condition", ("dra_scheduler.writes.condition_writer:",)),
    (DEVICES, ("dra_allocator.attempt", "dra_allocator.allocator", "dra_scheduler.cycle.walk:")),
    ("cache: hints and queue", ("dra_scheduler.queue.",)),
    ("decode: versions", ("dra_api.versions",)),
    ("decode: objects", ("dra_scheduler.cache.pod_info:pod_info", "dra_api.decode", "dra_scheduler.cache.node_info:")),
    ("cache: stores and ledger", ("dra_scheduler.cache.", "dra_allocator.ledger", "dra_allocator.table")),
    (
        "write: claim status",
        ("dra_scheduler.writes.claim_writer:", "dra_scheduler.writes.comparison:", f"{CEILING}._status"),
    ),
    ("decode: JSON of watches", ("dra_scheduler.client.reflector:Reflector._take", f"{CEILING}._follow")),
    ("decode: watch streams", ("dra_scheduler.client.reflector:",)),
    (FILTERS, ("dra_scheduler.cycle.",)),
    ("bind task, reports", ("dra_scheduler.binding:", "dra_scheduler.loop:", "dra_scheduler.report.")),
    ("collect garbage", ("dra_scheduler.collector:",)),
)
READING = "HTTP, TLS: answers and watches"
EVENT_LOOP = "event loop"
STAGES = (*(name for name, _ in RULES), READING, EVENT_LOOP)


def stage(stack: Sequence[str]) -> str:
    """Return what a sample's time went into; `stack` has the innermost call first."""
    for name, words in RULES:
        if any(call.startswith(words) for call in stack):
            return name
    return READING if is_http(stack) else EVENT_LOOP


def is_http(stack: Sequence[str]) -> bool:
    """Whether the time went into sending, receiving, encrypting."""
    return any(call.startswith((*HTTP, *SOCKETS)) for call in stack)
