"""`dra-scheduler serve`: an embedded cluster of one's own manifests for kubectl and other clients."""

from __future__ import annotations

import argparse
import asyncio
import sys

from dra_scheduler.cli.embedded.options import add_place, place_of
from dra_scheduler.cli.exit_codes import BAD_INPUT
from dra_scheduler.cli.show import console
from dra_scheduler.cli.simulate import read_all, report_problems

EXAMPLE = """A Kubernetes API in this process: objects in memory, the ResourceClaim controller, a stand-in for all
kubelets, and this scheduler. There is no RBAC, and nothing runs in the pods. It ends on Ctrl-C and leaves nothing
behind.

exit codes: 0 stopped by Ctrl-C or SIGTERM, 2 bad input, or an address or a file that cannot be used

example:
  dra-scheduler serve -f manifests/examples/cats-cluster.yaml --kubeconfig /tmp/kubeconfig
  dra-scheduler serve --no-scheduler --listen 127.0.0.1:6443     # for a scheduler of your own"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `serve`."""
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="FILE|DIR|-",
        help="what is in the cluster at the start: manifests or a dump; repeatable; default: nothing",
    )
    parser.add_argument("--no-scheduler", action="store_true", help="leave pods to another scheduler")
    add_place(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Serve until told to stop; returns the exit code."""
    # Asked for after the options have been read, so that --help is fast.
    from dra_scheduler.cli.embedded.sessions import Stage, guarded, kept, live_settings

    manifests = read_all(arguments.filename)
    for warning in manifests.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if report_problems(manifests.problems):
        return BAD_INPUT
    settings = None if arguments.no_scheduler else live_settings(manifests.documents)
    stage = Stage(manifests.documents, (), settings)
    place = place_of(arguments)
    return guarded(lambda: asyncio.run(kept(stage, place, arguments.kubeconfig, console())))
