"""A profile as tables for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.table import Table

from dra_bench.profile.account import Account
from dra_bench.profile.sampler import Sample
from dra_bench.profile.stages import STAGES, stage


def table(accounts: Sequence[Account]) -> Table:
    """Milliseconds per pod by stage, one column per scheduler; in brackets those of the HTTP client."""
    first = accounts[0]
    what = "CEL on model and memory" if first.selector else "plain class"
    title = f"{first.nodes} nodes x {first.devices} devices, {first.pods} pods, {what}: ms of CPU per pod (of it HTTP)"
    shown = Table(title=title)
    shown.add_column("stage")
    for account in accounts:
        shown.add_column(account.scheduler, justify="right")
    for name in STAGES:
        cells = [_cell(account, name) for account in accounts]
        if any(cells):
            shown.add_row(name, *cells)
    shown.add_row("all", *(f"{account.ms:.2f}" for account in accounts))
    shown.add_row("pods/s", *(f"{account.pods_per_s:.1f}" for account in accounts))
    return shown


def hot_spots(name: str, samples: Sequence[Sample], pods: int, count: int) -> Table:
    """The functions in which the most time went, what they call not counted."""
    own: defaultdict[tuple[str, str], float] = defaultdict(float)
    for seconds, stack in samples:
        own[stage(stack), stack[0] if stack else "?"] += seconds
    shown = Table(title=f"{name}: functions")
    for column in ("ms per pod", "function", "stage"):
        shown.add_column(column)
    for (where, function), seconds in sorted(own.items(), key=lambda item: -item[1])[:count]:
        shown.add_row(f"{seconds / pods * 1000:.3f}", function, where)
    return shown


def _cell(account: Account, name: str) -> str:
    found = next((one for one in account.stages if one.name == name), None)
    if found is None:
        return ""
    return f"{found.ms:.2f} ({found.http_ms:.2f})" if found.http_ms else f"{found.ms:.2f}"
