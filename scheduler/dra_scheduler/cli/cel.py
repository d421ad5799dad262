"""`dra-scheduler cel`: what a selector says about the devices of manifests, and what is wrong with it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import orjson

from dra_cel.errors import CompileError
from dra_cel.frame import COST_LIMIT
from dra_cel.selector import compile_selector
from dra_scheduler.cli.cel_devices import PublishedDevice, published_devices
from dra_scheduler.cli.cel_engines import ENGINES, Verdict
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK
from dra_scheduler.cli.show import console, selector_table
from dra_scheduler.cli.simulate import read_all, report_problems

EXAMPLE = """exit codes: 0 the expression was evaluated (whatever it says), 2 it does not compile or a file is wrong

example:
  dra-scheduler cel 'device.attributes["resource-driver.example.com"].age < 5' -f manifests/examples/cats-cluster.yaml
  kubectl get resourceslices -o yaml | dra-scheduler cel 'device.driver == "gpu.example.com"' -f -
  dra-scheduler cel --check 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cel`."""
    parser.add_argument("expression", metavar="EXPR", help="the text of a CEL selector")
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="FILE|DIR|-",
        help="manifests with ResourceSlices: a file, a folder or - for standard input; repeatable",
    )
    parser.add_argument(
        "--check", action="store_true", help="only compile it: type, estimated cost, limit; needs no files"
    )
    parser.add_argument(
        "--engine", choices=sorted(ENGINES), default="dra", help="who evaluates; cel-python is a second opinion"
    )
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="table, or JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Compile, evaluate per device, print; returns the exit code."""
    try:
        selector = compile_selector(arguments.expression)
    except CompileError as error:
        _print_error(error)
        return BAD_INPUT
    if arguments.check:
        _print_check(selector.result_type, selector.estimated_cost, arguments.output)
        return OK if selector.estimated_cost <= COST_LIMIT else BAD_INPUT
    if not arguments.filename:
        print("error: name files with ResourceSlices (-f), or use --check", file=sys.stderr)
        return BAD_INPUT
    manifests = read_all(arguments.filename)
    for warning in manifests.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    devices, problems = published_devices(manifests.documents)
    if report_problems([*manifests.problems, *problems]):
        return BAD_INPUT
    if not devices:
        print("error: no ResourceSlice with devices in the files given", file=sys.stderr)
        return BAD_INPUT
    judge = ENGINES[arguments.engine](arguments.expression)
    _print_verdicts(devices, [judge(device) for device in devices], arguments.output)
    return OK


def _print_error(error: CompileError) -> None:
    print(f"error: {error}", file=sys.stderr)
    for line in error.excerpt().splitlines():
        print(f"  {line}", file=sys.stderr)


def _print_check(result: str, cost: int, output: str) -> None:
    if output == "json":
        found = {"type": result, "estimatedCost": str(cost), "limit": str(COST_LIMIT), "accepted": cost <= COST_LIMIT}
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    print(f"type: {result}")
    verdict = "within" if cost <= COST_LIMIT else "over"
    print(f"estimated cost: {cost:,}, {verdict} the limit of {COST_LIMIT:,}")
    if cost > COST_LIMIT:
        print("the API server refuses a new object with it: compare less text, loop over less", file=sys.stderr)


def _print_verdicts(devices: Sequence[PublishedDevice], verdicts: Sequence[Verdict], output: str) -> None:
    if output == "json":
        listed = [
            {
                "driver": device.fields.driver,
                "pool": device.pool,
                "device": device.name,
                "result": verdict.result,
                **({"reason": verdict.reason} if verdict.reason else {}),
            }
            for device, verdict in zip(devices, verdicts, strict=True)
        ]
        print(orjson.dumps(listed, option=orjson.OPT_INDENT_2).decode())
        return
    rows = [
        (device.fields.driver, device.pool, device.name, verdict.result, verdict.reason)
        for device, verdict in zip(devices, verdicts, strict=True)
    ]
    console().print(selector_table(rows))
