"""The picture of a cluster for a terminal: nodes with their devices as colored cells, pods, claims, last events.

Wide terminals have nodes beside pods and claims beside events; narrow ones have all of them below each other. With a
height, the picture keeps within it: what does not fit is counted instead, or left out with its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.console import Group, OverflowMethod, RenderableType
from rich.table import Table
from rich.text import Text

from dra_embedded.http.columns.column import since
from dra_scheduler.cli.embedded.cells import Row, rows
from dra_scheduler.cli.embedded.cells_text import SIGNS, Form, cells_text, form_for
from dra_scheduler.cli.embedded.colors import UNAVAILABLE, Colors
from dra_scheduler.cli.embedded.scene import Scene
from dra_scheduler.cli.embedded.wording import device_names, event_message
from dra_scheduler.cli.loading import Object
from dra_scheduler.cli.show import claim_state

WIDE = 140
"""Columns from which on two tables stand side by side."""
_CHROME = 3
"""Lines of a table beside its rows: title, header, an empty line."""
_LEAST = 2
"""Rows that a table has at least, if it has as many: one and how many more there are."""
Thing = TypeVar("Thing")
_EVENTS = 6
_GAP = 3
_PADDING = 2


def picture(scene: Scene, colors: Colors, width: int, height: int | None = None) -> RenderableType:
    """The whole picture for a terminal of this size; `height` None: as long as it gets."""
    places = rows(scene)
    if width >= WIDE:
        return _side_by_side(scene, places, colors, (width - _GAP) // 2, height)
    tables: list[tuple[int, Callable[[int], Table]]] = [
        (len(places), lambda limit: _nodes(places, colors, width, limit, height)),
        (len(scene.pods), lambda limit: _pods(scene, colors, limit, height)),
        (len(scene.claims), lambda limit: _claims(scene, limit)),
        (min(_EVENTS, len(scene.events)), lambda limit: _events(scene, limit, height)),
    ]
    if height is not None:
        # Tables without a row only take room, and where there is not enough for all, the last ones are left out.
        tables = [(many, table) for many, table in tables if many]
    limits = _limits([many for many, _ in tables], height)
    shown = (table(limit) for (_, table), limit in zip(tables, limits, strict=False))
    return Group(_fit(_headline(scene, places), height), *shown)


def _side_by_side(scene: Scene, places: list[Row], colors: Colors, width: int, height: int | None) -> RenderableType:
    above, below = max(len(places), len(scene.pods)), max(len(scene.claims), min(_EVENTS, len(scene.events)))
    first, *others = _limits([above, below], height)
    grid = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    grid.add_column(width=width)
    grid.add_column(width=width)
    grid.add_row(_nodes(places, colors, width, first, height), _pods(scene, colors, first, height))
    for limit in others:
        grid.add_row(_claims(scene, limit), _events(scene, min(_EVENTS, limit), height))
    return Group(_fit(_headline(scene, places), height), grid)


def _limits(wanted: Sequence[int], height: int | None) -> list[int]:
    """How many rows each table gets, of those from the first on that there is room for."""
    if height is None:
        return list(wanted)
    kept = len(wanted)
    while kept > 1 and 1 + sum(_CHROME + min(rows, _LEAST) for rows in wanted[:kept]) > height:
        kept -= 1
    return _shares(wanted[:kept], height - kept * _CHROME - 1)


def _shares(wanted: Sequence[int], lines: int) -> list[int]:
    """Divide lines among tables: nobody gets more than it wants, and what one leaves is the others'."""
    shares, left = [0] * len(wanted), max(lines, len(wanted))
    while left > 0 and any(share < want for share, want in zip(shares, wanted, strict=True)):
        for i, want in enumerate(wanted):
            if shares[i] < want and left > 0:
                shares[i] += 1
                left -= 1
    return shares


def _headline(scene: Scene, places: list[Row]) -> Text:
    total, used = sum(len(row.cells) for row in places), sum(row.used for row in places)
    placed = sum(bool(pod["spec"].get("nodeName")) for pod in scene.pods)
    text = Text(f"{_count(len(scene.nodes), 'node')}, {_count(total, 'device')}, ")
    text.append(f"{used} in use", style="bold")
    text.append(f"; {_count(len(scene.pods), 'pod')}, ")
    text.append(f"{placed} placed", style="bold green" if placed else "")
    if placed < len(scene.pods):
        text.append(", ").append(f"{len(scene.pods) - placed} pending", style="bold red")
    return text


def _fit(text: Text, height: int | None) -> Text:
    """On one line where the height is limited."""
    if height is not None:
        text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _table(title: str, *columns: str, fold: bool = True) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, _PADDING, 0, 0)
    )
    for number, column in enumerate(columns):
        is_last = number == len(columns) - 1
        overflow: OverflowMethod = "fold" if fold else "ellipsis"
        table.add_column(column, header_style="dim", overflow=overflow, no_wrap=not is_last)
    return table


def _nodes(places: list[Row], colors: Colors, width: int, limit: int, height: int | None) -> Table:
    table = _table("\nNodes", "NODE", "FREE", "", fold=height is None)
    shown, more = _some(places, limit, lambda row: not row.used)
    names = max((len(name) for name in (*(row.place for row in places), _more(more))), default=4)
    free = max((len(_free(row)) for row in places), default=4)
    form = form_for(places, width - names - free - 2 * _PADDING)
    header = "DEVICES" if form is Form.NAMED else f"DEVICES  {SIGNS}"
    table.columns[-1].header = Text(header, no_wrap=True, overflow="ellipsis")
    for row in shown:
        table.add_row(row.place, _free(row), _fit(cells_text(row.cells, form, colors), height))
    return _with_more(table, more)


def _free(row: Row) -> str:
    return f"{row.free}/{len(row.cells)}"


def _pods(scene: Scene, colors: Colors, limit: int, height: int | None) -> Table:
    table = _table("\nPods", "POD", "STATUS", "WHERE, OR WHY NOT", fold=height is None)
    devices = _devices_by_pod(scene.claims)
    shown, more = _some(scene.pods, limit, lambda pod: bool(pod["spec"].get("nodeName")))
    for pod in shown:
        metadata, node = pod["metadata"], pod["spec"].get("nodeName")
        key = (metadata["namespace"], metadata["name"])
        phase = "Terminating" if metadata.get("deletionTimestamp") else (pod.get("status") or {}).get("phase", "")
        name = Text().append("■ ", style=colors.of("/".join(key)) if node else UNAVAILABLE).append(_named(key))
        reason = scene.reasons.get(key, "not tried yet")
        where = Text(f"{node}: {device_names(devices.get(key, ())) or 'no devices'}" if node else reason)
        table.add_row(
            name, Text(phase, style="green" if phase == "Running" else "red" if not node else ""), _fit(where, height)
        )
    return _with_more(table, more)


def _devices_by_pod(claims: Iterable[Object]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        status = claim.get("status") or {}
        results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or []
        for user in status.get("reservedFor") or []:
            key = (claim["metadata"]["namespace"], user["name"])
            found.setdefault(key, []).extend(result["device"] for result in results)
    return found


def _claims(scene: Scene, limit: int) -> Table:
    table = _table("\nResourceClaims", "CLAIM", "STATE", fold=False)
    shown, more = _some(scene.claims, limit, lambda claim: "allocated" in claim_state(claim))
    for claim in shown:
        metadata, state = claim["metadata"], claim_state(claim)
        style = "red" if state == "pending" else ""
        table.add_row(_named((metadata["namespace"], metadata["name"])), Text(state, style=style))
    return _with_more(table, more)


def _events(scene: Scene, limit: int, height: int | None) -> Table:
    table = _table("\nLast events", "AGE", "REASON", "MESSAGE", fold=height is None)
    latest = sorted(scene.events, key=_time)[-limit:] if limit else []
    for event in latest:
        style = "red" if event.get("type") == "Warning" else "green" if event.get("reason") == "Scheduled" else ""
        reason, message = Text(str(event.get("reason", "")), style=style), Text(event_message(event))
        table.add_row(since(_time(event), scene.now), reason, _fit(message, height))
    return table


def _time(event: Object) -> str:
    series = event.get("series") or {}
    return str(series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or "")


def _named(key: tuple[str, str]) -> str:
    return key[1] if key[0] == "default" else "/".join(key)


def _some(items: list[Thing], limit: int, is_dull: Callable[[Thing], bool]) -> tuple[list[Thing], int]:
    """As many as there are lines for, in their order, dull ones left out first; and how many that leaves out.

    The last line is for saying so.
    """
    if len(items) <= limit:
        return items, 0
    kept = sorted(range(len(items)), key=lambda i: (is_dull(items[i]), i))[: max(limit - 1, 0)]
    return [items[i] for i in sorted(kept)], len(items) - len(kept)


def _with_more(table: Table, more: int) -> Table:
    if more:
        table.add_row(Text(_more(more), style="dim"))
    return table


def _more(number: int) -> str:
    """How many are not shown; short, as it stands in a column of names."""
    return f"+{number} more" if number else ""
