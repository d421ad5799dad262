"""The command `dra-scheduler`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dra_scheduler.cli.dispatch import Program

COMMANDS = {
    "run": ("dra_scheduler.cli.run", "schedule pods of a real cluster"),
    "simulate": ("dra_scheduler.cli.simulate", "schedule the pods of manifests on an embedded cluster, offline"),
    "demo": ("dra_scheduler.cli.demo", "see it work on an embedded cluster, live; --keep keeps it for kubectl"),
    "serve": ("dra_scheduler.cli.serve", "a cluster of your manifests in this process, for kubectl and other clients"),
    "cel": ("dra_scheduler.cli.cel", "what a CEL selector says about devices, and what is wrong with it"),
    "lint": ("dra_scheduler.cli.lint", "what in manifests an API server accepts, and will not work"),
    "explain": ("dra_scheduler.cli.explain", "why a pod is pending, or why its devices are the ones that it has"),
    "devices": ("dra_scheduler.cli.devices", "every device of a cluster: where it is, what it is, who holds it"),
    "audit": ("dra_scheduler.cli.audit", "what should not be in a cluster: devices held twice, leaked finalizers, ..."),
    "dump": ("dra_scheduler.cli.dump", "a cluster as one file that simulate, explain, devices, audit and lint read"),
    "doctor": ("dra_scheduler.cli.doctor", "can this cluster schedule devices, may we, and what is about to break"),
}

EXAMPLE = """example:
  dra-scheduler demo
  dra-scheduler simulate -f my-manifests/
  dra-scheduler run --kubeconfig ~/.kube/config --http 127.0.0.1:10259"""

PROGRAM = Program(
    "dra-scheduler",
    "A scheduler for devices on Kubernetes (Dynamic Resource Allocation, resource.k8s.io).",
    EXAMPLE,
    COMMANDS,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    return PROGRAM.run(argv)


if __name__ == "__main__":
    sys.exit(main())
