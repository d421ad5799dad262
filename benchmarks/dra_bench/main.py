"""The command `dra-bench`: one subcommand a module, imported only when it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "conformance": ("dra_bench.conformance.command", "run case files of Kubernetes' own tests through our engine"),
    "fuzz": ("dra_bench.fuzz.command", "try our engine on inputs made from seeds"),
    "oracle": ("dra_bench.oracle.command", "compare our engine with Kubernetes' own on inputs made from seeds"),
}

EXAMPLE = """example:
  dra-bench conformance allocator-cases.json

Each command explains itself: dra-bench COMMAND --help"""


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The whole parser; only the named command's own arguments are filled in (its module is imported)."""
    parser = argparse.ArgumentParser(
        prog="dra-bench",
        description="Measure and check dra-scheduler against its peers.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
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
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in words if not word.startswith("-")), None)
    arguments = build_parser(command).parse_args(words)
    try:
        code: int = arguments.execute(arguments)
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
