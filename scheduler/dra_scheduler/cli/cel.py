"""`dra-scheduler cel`: what a selector says about devices, why, and what is wrong with it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dra_api.manifests import MAX_FILE, Document, Problem, read_paths
from dra_api.references import RESOURCE_SLICE
from dra_cel.errors import CompileError
from dra_scheduler.cli.cel_check import Checked, check
from dra_scheduler.cli.cel_devices import PublishedDevice, published_devices
from dra_scheduler.cli.cel_engines import ENGINES, Verdict
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK
from dra_scheduler.cli.output import print_data

EXAMPLE = """exit codes: 0 the expression was evaluated (whatever it says), 2 it does not compile or a file is wrong,
3 the cluster has no resource.k8s.io

example:
  dra-scheduler cel 'device.attributes["resource-driver.example.com"].age < 5' -f manifests/examples/cats-cluster.yaml
  kubectl get resourceslices -o yaml | dra-scheduler cel 'device.driver == "gpu.example.com"' -f -
  dra-scheduler cel 'device.driver == "gpu.example.com"' --kubeconfig ~/.kube/config
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
    parser.add_argument("--kubeconfig", metavar="FILE", help="the devices of this cluster (only reading it)")
    parser.add_argument("--context", metavar="NAME", help="context in the kubeconfig; default: its current one")
    parser.add_argument(
        "--check", action="store_true", help="only compile it: position of an error, type, cost, limit; needs no files"
    )
    parser.add_argument(
        "--engine", choices=sorted(ENGINES), default="dra", help="who evaluates; cel-python is a second opinion"
    )
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="default: table")


def execute(arguments: argparse.Namespace) -> int:
    """Compile, evaluate per device, print; returns the exit code."""
    if arguments.check:
        return _check(arguments.expression, arguments.output)
    try:
        judge = ENGINES[arguments.engine](arguments.expression)
    except CompileError as error:
        _print_error(error)
        return BAD_INPUT
    if arguments.kubeconfig or arguments.context:
        from dra_scheduler.cli.cluster_access import guarded  # which takes a while to import

        return guarded(lambda: _evaluate(_of_cluster(arguments), judge, arguments.output))
    if not arguments.filename:
        print("error: name files with ResourceSlices (-f) or a cluster (--kubeconfig), or use --check", file=sys.stderr)
        return BAD_INPUT
    names = arguments.filename
    manifests = read_paths(names, stdin=sys.stdin.buffer.read(MAX_FILE + 1) if "-" in names else None)
    for warning in manifests.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if _report(manifests.problems):
        return BAD_INPUT
    return _evaluate(manifests.documents, judge, arguments.output)


def _of_cluster(arguments: argparse.Namespace) -> Sequence[Document]:
    from dra_scheduler.cli.cluster_access import look
    from dra_scheduler.lint.surroundings import of_snapshot

    access = argparse.Namespace(kubeconfig=arguments.kubeconfig, context=arguments.context)
    return of_snapshot(look(access, (RESOURCE_SLICE,))).documents


def _evaluate(documents: Sequence[Document], judge: Any, output: str) -> int:
    devices, problems = published_devices(documents)
    if _report(problems):
        return BAD_INPUT
    if not devices:
        print("error: no ResourceSlice with devices in what was given", file=sys.stderr)
        return BAD_INPUT
    _print_verdicts(devices, [judge(device) for device in devices], output)
    return OK


def _report(problems: Sequence[Problem]) -> bool:
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return bool(problems)


def _print_error(error: CompileError) -> None:
    print(f"error: {error}", file=sys.stderr)
    for line in error.excerpt().splitlines():
        print(f"  {line}", file=sys.stderr)


def _check(text: str, output: str) -> int:
    checked = check(text)
    if output != "table":
        print_data(checked.as_json(), output)
    elif checked.error is not None:
        _print_error(checked.error)
    else:
        _print_check(checked)
    return OK if checked.is_accepted else BAD_INPUT


def _print_check(checked: Checked) -> None:
    for line in checked.lines():
        print(line)
    if not checked.is_accepted:
        print("the API server refuses a new object with it: compare less text, loop over less", file=sys.stderr)


def _print_verdicts(devices: Sequence[PublishedDevice], verdicts: Sequence[Verdict], output: str) -> None:
    if output != "table":
        print_data([_as_json(*one) for one in zip(devices, verdicts, strict=True)], output)
        return
    from dra_scheduler.cli.show import console, selector_table

    rows = [
        (device.fields.driver, device.pool, device.name, verdict.result, verdict.reason)
        for device, verdict in zip(devices, verdicts, strict=True)
    ]
    console().print(selector_table(rows))
    counts = Counter(verdict.result for verdict in verdicts)
    parts = ", ".join(f"{counts[result]} {result}" for result in ("true", "false", "error") if counts[result])
    print(f"{len(devices)} device{'' if len(devices) == 1 else 's'}: {parts}", file=sys.stderr)


def _as_json(device: PublishedDevice, verdict: Verdict) -> dict[str, Any]:
    causes = [
        {"expression": one.expression, "result": one.result, "values": dict(one.values)}
        | ({"error": one.error} if one.error else {})
        for one in verdict.causes
    ]
    return {
        "driver": device.fields.driver,
        "pool": device.pool,
        "device": device.name,
        "result": verdict.result,
        **({"reason": verdict.reason} if verdict.reason else {}),
        **({"because": causes} if causes else {}),
    }
