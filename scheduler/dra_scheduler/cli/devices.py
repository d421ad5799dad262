"""`dra-scheduler devices`: every device of a cluster, where it is and who holds it."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Mapping, Sequence
from random import Random

from rich.text import Text

from dra_api.references import RESOURCE_SLICE
from dra_api.transport import Transport
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cli.cluster_access import add_access, guarded, look, on_cluster
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK
from dra_scheduler.cli.output import print_data, print_json_line
from dra_scheduler.cli.show import console, make_table
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import discover
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.inventory.changes import changes, followed
from dra_scheduler.inventory.devices import Listed, list_devices, sums
from dra_scheduler.inventory.fields import device, inventory, named
from dra_scheduler.inventory.holding import Holding
from dra_scheduler.inventory.selection import UnknownNameError, select
from dra_scheduler.report.phrases import some_of
from dra_scheduler.survey.known import known
from dra_scheduler.system_clock import SystemClock

EXAMPLE = """states: free, held (as a whole), shared (in shares; more may fit), tainted (free, but not for everybody),
blocked (partitions in use leave too little of a shared counter), unusable (with the reason)

exit codes: 0 listed, 2 the cluster or a file cannot be read, 3 the cluster has no resource.k8s.io

example:
  dra-scheduler devices
  dra-scheduler devices --attribute model,memory --class gpu.example.com --node node-1
  dra-scheduler devices -w -o json
  dra-scheduler devices -f manifests/examples/cats-cluster.yaml -o wide"""

STATES = ("free", "held", "shared", "tainted", "blocked", "unusable")
_STYLES = dict(zip(STATES, ("green", "bold red", "yellow", "magenta", "cyan", "dim"), strict=True))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `devices`."""
    add_access(parser)
    parser.add_argument("-w", "--watch", action="store_true", help="go on and print what changes")
    parser.add_argument(
        "-o", "--output", choices=("table", "wide", "name", "json", "yaml"), default="table", help="default: table"
    )
    parser.add_argument(
        "--attribute",
        metavar="NAME,...",
        default="",
        help="also show these attributes or capacities (short or full names)",
    )
    parser.add_argument("--driver", default="", metavar="NAME", help="only devices of this driver")
    parser.add_argument("--class", dest="device_class", default="", metavar="NAME", help="only devices of this class")
    parser.add_argument("--node", default="", metavar="NAME", help="only devices that this node sees")


def execute(arguments: argparse.Namespace) -> int:
    """List, and follow if asked; returns the exit code."""
    if arguments.watch and (arguments.filename or arguments.output in ("name", "yaml")):
        print("error: --watch goes with a cluster, and with the outputs table, wide and json", file=sys.stderr)
        return BAD_INPUT
    if arguments.watch:
        return on_cluster(arguments, lambda transport: _follow(arguments, transport))
    return guarded(lambda: _list(arguments))


def _list(arguments: argparse.Namespace) -> int:
    snapshot = look(arguments)
    if not snapshot.has(RESOURCE_SLICE):
        print("error: ResourceSlices cannot be read, so no device is known", file=sys.stderr)
        return BAD_INPUT
    cluster, problems = known(snapshot)
    for problem in problems:
        print(f"warning: cannot be read: {problem}", file=sys.stderr)
    try:
        listed = _selected(arguments, cluster)
    except UnknownNameError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    if arguments.output in ("json", "yaml"):
        print_data(inventory(listed), arguments.output)
        return OK
    if arguments.output == "name":
        print("".join(f"{one.id}\n" for one in listed), end="")
        return OK
    _warn_of_names(listed, arguments)
    _print_table(listed, arguments)
    return OK


def _warn_of_names(listed: Sequence[Listed], arguments: argparse.Namespace) -> None:
    """Say which names are of no attribute and no capacity: their columns are empty."""
    known = sorted({name for one in listed for name in (*one.device.attributes, *one.device.capacity)})
    for name in _names(arguments):
        if listed and not any(named(one, name) for one in listed):
            near = difflib.get_close_matches(name, [*known, *(full.rpartition("/")[2] for full in known)], 1)
            meant = f"did you mean {near[0]}?" if near else f"there are {some_of(known, 8)}"
            print(f"warning: no device has an attribute or a capacity {name}; {meant}", file=sys.stderr)


async def _follow(arguments: argparse.Namespace, transport: Transport) -> int:
    clock = SystemClock()
    served = await discover(Api(transport))
    gates = FeatureGates.of({}, served.server.minor)
    async with followed(transport, served, gates, clock, Random()) as cluster:
        try:
            _selected(arguments, cluster)
        except UnknownNameError as error:
            print(f"error: {error}", file=sys.stderr)
            return BAD_INPUT
        async for found in changes(cluster, lambda: _selected(arguments, cluster)):
            for what, one in found:
                _print_change(what, one, arguments)
    return OK


def _selected(arguments: argparse.Namespace, cluster: Cluster) -> list[Listed]:
    return select(
        cluster,
        list_devices(cluster),
        driver=arguments.driver,
        device_class=arguments.device_class,
        node=arguments.node,
    )


def _print_change(what: str, one: Listed, arguments: argparse.Namespace) -> None:
    if arguments.output == "json":
        print_json_line({"change": what, **device(one)})
        return
    extra = [f"{name}={named(one, name)}" for name in _names(arguments)]
    print(f"{what:8} {one.state:9} {one.id} {one.node} {_holders(one)} {' '.join(extra)}".rstrip(), flush=True)


def _print_table(listed: Sequence[Listed], arguments: argparse.Namespace) -> None:
    names, wide = _names(arguments), arguments.output == "wide"
    more = ("SLICE", "GENERATION", "CLASSES") if wide else ()
    table = make_table("Devices", "DRIVER", "POOL", "DEVICE", "NODE", "STATE", *names, "TAINTS", *more, "HELD BY")
    for one in listed:
        state = Text(one.state, style=_STYLES[one.state])
        taints = ", ".join(map(str, one.taints)) or "-"
        rest = (one.slice, str(one.generation), ", ".join(one.classes) or "-") if wide else ()
        values = (named(one, name) or "-" for name in names)
        held = Text(one.reason or _holders(one, shares=wide))
        table.add_row(*one.id, one.node, state, *values, taints, *rest, held)
    screen = console()
    screen.print(table)
    for title, by in (("By driver", "driver"), ("By class", "class")):
        screen.print()
        screen.print(_sums(title, sums(list(listed), by)))


def _sums(title: str, found: Mapping[str, Mapping[str, int]]) -> object:
    table = make_table(title, "NAME", "DEVICES", *(state.upper() for state in STATES))
    for name, counts in found.items():
        table.add_row(name, str(counts["total"]), *(str(counts.get(state, 0)) for state in STATES))
    return table


def _holders(one: Listed, *, shares: bool = False) -> str:
    return "; ".join(_holder(holding, shares) for holding in one.held_by) or "-"


def _holder(holding: Holding, shares: bool) -> str:
    """`namespace/claim (pod name)`, with what is special about it."""
    text = holding.claim
    notes = ["admin"] if holding.admin else []
    if holding.consumed:
        notes.append(", ".join(f"{name} {amount}" for name, amount in holding.consumed.items()))
    if shares and holding.share_id:
        notes.append(f"share {holding.share_id}")
    if notes:
        text += f" [{', '.join(notes)}]"
    if not holding.pods:
        return f"{text} (no pod)"
    # Pods are of the claim's namespace; whoever else holds it is named with the kind.
    own = f"{holding.claim.partition('/')[0]}/"
    names = [pod.removeprefix(own) for pod in holding.pods]
    return f"{text} ({'pods ' if len(names) > 1 else '' if ' ' in names[0] else 'pod '}{', '.join(names)})"


def _names(arguments: argparse.Namespace) -> list[str]:
    return [name.strip() for name in arguments.attribute.split(",") if name.strip()]
