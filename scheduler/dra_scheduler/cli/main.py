"""The command `dra-scheduler`: one subcommand a module, imported only when it is called so that each starts fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from dra_scheduler.cli.exit_codes import BAD_INPUT, INTERRUPTED

# name -> (module, one line of help). The module has add_arguments(parser) and execute(arguments) -> exit code.
COMMANDS = {
    "run": ("dra_scheduler.cli.run", "schedule pods of a real cluster"),
    "simulate": ("dra_scheduler.cli.simulate", "schedule the pods of manifests on an embedded cluster, offline"),
    "demo": ("dra_scheduler.cli.demo", "see it work: four nodes, eight devices each, one pod with two claims"),
    "cel": ("dra_scheduler.cli.cel", "what a CEL selector says about devices, and what is wrong with it"),
}

DESCRIPTION = "A scheduler for devices on Kubernetes (Dynamic Resource Allocation, resource.k8s.io)."
EXAMPLE = """example:
  dra-scheduler demo
  dra-scheduler simulate -f my-manifests/
  dra-scheduler run --kubeconfig ~/.kube/config --http 127.0.0.1:10259

Each command explains itself: dra-scheduler COMMAND --help"""


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The whole parser; only the named command's own arguments are filled in (its module is imported)."""
    parser = argparse.ArgumentParser(
        prog="dra-scheduler",
        description=DESCRIPTION,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module_name, summary) in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=summary, description=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == command:
            module = import_module(module_name)
            subparser.epilog = module.EXAMPLE
            module.add_arguments(subparser)
            subparser.set_defaults(execute=module.execute)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (2: bad usage or input, 130: interrupted)."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in words if not word.startswith("-")), None)
    parser = build_parser(command)
    arguments = parser.parse_args(words)
    if arguments.version:
        from importlib.metadata import version

        print(f"dra-scheduler {version('dra-scheduler')}")
        return 0
    if arguments.command is None:
        parser.print_help()
        return BAD_INPUT
    try:
        code: int = arguments.execute(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output (head, less) has enough of it; the interpreter must not flush into the closed pipe.
        sys.stdout = None
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())
