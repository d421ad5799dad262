"""The command `dra-bench`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dra_scheduler.cli.dispatch import Program

COMMANDS = {
    "allocate": ("dra_bench.allocate.command", "measure how fast decisions are, ours and Kubernetes'"),
    "conformance": ("dra_bench.conformance.command", "run case files of Kubernetes' own tests through our engine"),
    "fuzz": ("dra_bench.fuzz.command", "try our engine on inputs made from seeds"),
    "cluster": ("dra_bench.cluster.command", "race schedulers against each other on the real control plane"),
    "memory": ("dra_bench.memory.command", "what memory the scheduler needs beside a large cluster"),
    "profile": ("dra_bench.profile.command", "where a pod's CPU time goes in our scheduler, on the real control plane"),
    "simulate": ("dra_bench.simulation.command", "live through clusters made from seeds, in virtual time"),
    "upstream-perf": ("dra_bench.upstream.bench_command", "run Kubernetes' scheduler_perf with both schedulers"),
    "upstream": ("dra_bench.upstream.command", "run Kubernetes' own tests of DRA with our scheduler in its place"),
    "oracle": ("dra_bench.oracle.command", "compare our engine with Kubernetes' own on inputs made from seeds"),
}

PROGRAM = Program(
    "dra-bench",
    "Measure and check dra-scheduler against its peers.",
    "example:\n  dra-bench conformance allocator-cases.json",
    COMMANDS,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    return PROGRAM.run(argv)


if __name__ == "__main__":
    sys.exit(main())
