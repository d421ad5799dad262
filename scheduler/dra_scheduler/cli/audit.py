"""`dra-scheduler audit`: what should not be in a cluster with devices."""

from __future__ import annotations

import argparse
import asyncio
import sys
from itertools import zip_longest

from dra_api.transport import Transport
from dra_scheduler.audit.audit import Report, audit, counted, lasting
from dra_scheduler.audit.finding import Finding
from dra_scheduler.cli.cluster_access import add_access, guarded, look, on_cluster, report_gaps
from dra_scheduler.cli.durations import duration
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK
from dra_scheduler.cli.output import print_data
from dra_scheduler.survey.api_server import take
from dra_scheduler.system_clock import SystemClock

FOUND = 1
EXAMPLE = """A cluster is looked at twice if the first look finds anything, --settle seconds apart, and only what is
found both times is told: kinds are read one after the other, and controllers set some things right by themselves.
In files the present is when the dump was made, else the newest time in them.

exit codes: 0 nothing found, 1 findings, 2 something could not be read, 3 the cluster has no resource.k8s.io

example:
  dra-scheduler audit
  dra-scheduler audit -o json
  dra-scheduler audit -f dump.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `audit`."""
    add_access(parser)
    parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text", help="default: text")
    parser.add_argument(
        "--settle",
        type=duration,
        default=5.0,
        metavar="TIME",
        help="between the two looks: seconds, or 1m; 0: one look; default: 5",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Look, print, and return the exit code."""
    if arguments.filename:
        return guarded(lambda: _print(audit(look(arguments)), arguments.output))
    return on_cluster(arguments, lambda transport: _live(arguments, transport))


async def _live(arguments: argparse.Namespace, transport: Transport) -> int:
    clock = SystemClock()
    snapshot = await take(transport, clock)
    report_gaps(snapshot)
    report = audit(snapshot)
    if report.findings and arguments.settle > 0:
        if sys.stderr.isatty():
            print(f"note: something was found, looking again in {arguments.settle:g} s", file=sys.stderr)
        await asyncio.sleep(arguments.settle)
        report = lasting(report, audit(await take(transport, clock)))
    return _print(report, arguments.output)


def _print(report: Report, output: str) -> int:
    if output == "text":
        for finding, following in zip_longest(report.findings, report.findings[1:]):
            print(f"{finding.name}: {finding.object}: {finding.text}")
            # What to do is said once for findings of one kind.
            if following is None or following.hint != finding.hint:
                print(f"  {finding.hint}")
        for text in report.left_out:
            print(f"warning: {text}", file=sys.stderr)
        counts = ", ".join(f"{count} {name}" for name, count in counted(report.findings).items())
        number = len(report.findings)
        print(f"{number} finding{'' if number == 1 else 's'}: {counts}" if number else "nothing found")
    else:
        listed = [_data(finding) for finding in report.findings]
        counts_by_name = counted(report.findings)
        print_data({"findings": listed, "counts": counts_by_name, "notChecked": list(report.left_out)}, output)
    if report.findings:
        return FOUND
    return BAD_INPUT if report.left_out else OK


def _data(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "object": finding.object, "text": finding.text, "hint": finding.hint}
