"""What read-only commands share: which cluster or files to look at, and the exit codes of what can go wrong there."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from dra_api.references import Resource
from dra_api.transport import Transport, TransportError
from dra_scheduler.cli.exit_codes import BAD_INPUT, NO_RESOURCE_API
from dra_scheduler.client.connection import connect
from dra_scheduler.client.errors import NoResourceApiError
from dra_scheduler.errors import SchedulerError
from dra_scheduler.survey.api_server import take
from dra_scheduler.survey.files import from_documents, with_assumed_nodes
from dra_scheduler.survey.read_only import ReadOnlyTransport
from dra_scheduler.survey.snapshot import KINDS, Snapshot
from dra_scheduler.system_clock import SystemClock


class FilesError(Exception):
    """The files named by the user cannot be used; what is wrong has been printed."""


def add_access(parser: argparse.ArgumentParser, *, files: bool = True) -> None:
    """Add `--kubeconfig`, `--context` and, unless told otherwise, `-f`."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: $KUBECONFIG, ~/.kube/config, or in-cluster")
    parser.add_argument("--context", metavar="NAME", help="context in the kubeconfig; default: its current one")
    if files:
        parser.add_argument(
            "-f",
            "--filename",
            action="append",
            default=[],
            metavar="FILE|DIR|-",
            help="look at manifests or at a dump instead of a cluster; repeatable",
        )


@asynccontextmanager
async def open_cluster(arguments: argparse.Namespace) -> AsyncIterator[Transport]:
    """Connect as the arguments say. Whatever would write is refused. Raises ConnectError.

    A namespace that was not given becomes that of the context, if it has one.
    """
    async with await connect(arguments.kubeconfig, arguments.context, SystemClock()) as transport:
        if getattr(arguments, "namespace", "") is None:
            arguments.namespace = transport.namespace or None
        yield ReadOnlyTransport(transport)


def look(arguments: argparse.Namespace, resources: Sequence[Resource] = KINDS) -> Snapshot:
    """Take a snapshot of the files (`-f`) or of the cluster; gaps and unreadable objects are told on standard error.

    Raises FilesError, and what connecting and reading raise (see `exit_code`).
    """
    snapshot = _from_files(arguments.filename) if getattr(arguments, "filename", None) else _live(arguments, resources)
    report_gaps(snapshot)
    return snapshot


def report_gaps(snapshot: Snapshot) -> None:
    """Say on standard error what the snapshot lacks."""
    for gap in snapshot.gaps:
        print(f"warning: {gap}", file=sys.stderr)
    if any(gap.reason == "forbidden" for gap in snapshot.gaps):
        print(
            "note: manifests/rbac-readonly.yaml has all of these rules; doctor tells which are missing", file=sys.stderr
        )
    for problem in snapshot.skipped:
        print(f"warning: left out: {problem}", file=sys.stderr)


def guarded(work: Callable[[], int]) -> int:
    """Run a command's work; what cannot be read becomes a message and an exit code."""
    try:
        return work()
    except FilesError:
        return BAD_INPUT
    except NoResourceApiError as error:
        print(f"error: {error}", file=sys.stderr)
        return NO_RESOURCE_API
    except SchedulerError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except TransportError as error:
        print(f"error: the API server does not answer: {error}", file=sys.stderr)
        return BAD_INPUT


def on_cluster(arguments: argparse.Namespace, work: Callable[[Transport], Awaitable[int]]) -> int:
    """Run work on the cluster in an event loop of its own; errors as in `guarded`."""

    async def main() -> int:
        async with open_cluster(arguments) as transport:
            return await work(transport)

    return guarded(lambda: asyncio.run(main()))


def _live(arguments: argparse.Namespace, resources: Sequence[Resource]) -> Snapshot:
    async def main() -> Snapshot:
        async with open_cluster(arguments) as transport:
            return await take(transport, SystemClock(), resources)

    return asyncio.run(main())


def _from_files(names: Sequence[str]) -> Snapshot:
    # Reading manifests is not needed for a cluster, and takes a while to import.
    from dra_api.manifests import MAX_FILE, read_paths

    manifests = read_paths(names, stdin=sys.stdin.buffer.read(MAX_FILE + 1) if "-" in names else None)
    for warning in manifests.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for problem in manifests.problems:
        print(f"error: {problem}", file=sys.stderr)
    if manifests.problems:
        raise FilesError
    if not manifests.documents:
        print("error: no objects in the files given", file=sys.stderr)
        raise FilesError
    snapshot = from_documents(manifests.documents, ", ".join(names))
    for note in with_assumed_nodes(snapshot):
        print(f"note: {note}", file=sys.stderr)
    return snapshot
