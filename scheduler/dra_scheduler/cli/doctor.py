"""`dra-scheduler doctor`: can this cluster schedule devices, and may we?"""

from __future__ import annotations

import argparse

from rich.text import Text

from dra_api.transport import Transport
from dra_scheduler.cli.cluster_access import add_access, on_cluster
from dra_scheduler.cli.exit_codes import OK
from dra_scheduler.cli.output import print_data
from dra_scheduler.cli.show import console
from dra_scheduler.doctor.check import Check
from dra_scheduler.doctor.doctor import examine
from dra_scheduler.system_clock import SystemClock

PROBLEM = 1
_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "unknown": "dim"}
EXAMPLE = """Asks the API server what we may do (SelfSubjectAccessReview, which stores nothing), and reads.

exit codes: 0 no problem (there may be warnings), 1 a problem, 2 the cluster cannot be read

example:
  dra-scheduler doctor
  dra-scheduler doctor --context production -o json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    add_access(parser, files=False)
    parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text", help="default: text")
    parser.add_argument(
        "--scheduler-name", default="dra-scheduler", metavar="NAME", help="ours; default: dra-scheduler"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Examine, print; returns the exit code."""
    return on_cluster(arguments, lambda transport: _examine(arguments, transport))


async def _examine(arguments: argparse.Namespace, transport: Transport) -> int:
    checks = await examine(transport, SystemClock(), arguments.scheduler_name)
    if arguments.output == "text":
        _print(checks)
    else:
        print_data({"checks": [_data(check) for check in checks]}, arguments.output)
    return PROBLEM if any(check.status == "problem" for check in checks) else OK


def _print(checks: list[Check]) -> None:
    screen = console()
    for check in checks:
        line = Text(f"{check.status:8}", style=_STYLES[check.status])
        screen.print(line + Text(f" {check.name}: {check.text}", style=""), soft_wrap=True)
        if check.todo:
            screen.print(Text(f"         {check.todo}"), soft_wrap=True)


def _data(check: Check) -> dict[str, str]:
    found = {"name": check.name, "status": check.status, "text": check.text, "todo": check.todo}
    return {key: value for key, value in found.items() if value}
