"""A command with subcommands, one module each, imported only when it is called so that every call starts fast."""

from __future__ import annotations

import argparse
import difflib
import errno
import gc
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from dra_scheduler.cli.exit_codes import BAD_INPUT, INTERRUPTED

COLLECT_AFTER = 50_000
"""New objects after which Python looks for garbage in cycles: a cluster is a million objects that stay."""


_OUTPUT_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the shell.

    `commands`: name -> (module, one line of help). A module has EXAMPLE (text below its help), add_arguments(parser)
    and execute(arguments) -> exit code.
    """

    name: str
    description: str
    example: str
    commands: Mapping[str, tuple[str, str]]

    def parser(self, command: str | None) -> argparse.ArgumentParser:
        """The whole parser; only the named command's own arguments are filled in (its module is imported)."""
        parser = argparse.ArgumentParser(
            prog=self.name,
            description=self.description,
            epilog=f"{self.example}\n\nEach command explains itself: {self.name} COMMAND --help",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("--version", action="store_true", help="print the version and exit")
        subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
        for name, (module_name, summary) in self.commands.items():
            subparser = subparsers.add_parser(
                name, help=summary, description=summary, formatter_class=argparse.RawDescriptionHelpFormatter
            )
            if name == command:
                module = import_module(module_name)
                subparser.epilog = module.EXAMPLE
                module.add_arguments(subparser)
                subparser.set_defaults(execute=module.execute)
        return parser

    @staticmethod
    def _refuse(parser: argparse.ArgumentParser, command: str | None, unknown: list[str]) -> None:
        """End with the usage of the command that does not know these words."""
        choices: Mapping[str, argparse.ArgumentParser] = next(
            (one.choices for one in parser._actions if isinstance(one, argparse._SubParsersAction)), {}
        )
        known = parser if command is None else choices[command]
        known.error(f"unrecognized arguments: {' '.join(unknown)}")

    def run(self, argv: Sequence[str] | None) -> int:
        """Run one command; returns its exit code (2: bad usage or input, 130: interrupted)."""
        words = list(sys.argv[1:] if argv is None else argv)
        gc.set_threshold(COLLECT_AFTER)
        try:
            code = self._execute(words)
            # What is still in the buffer would fail after the end, when nobody can say so.
            sys.stdout.flush()
            return code
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            # Whoever read our output (head, less) has enough of it; the interpreter must not flush into the pipe.
            sys.stdout = None
            return 0
        except OSError as error:
            if error.errno not in _OUTPUT_ERRORS or error.filename is not None:
                raise
            sys.stdout = None
            print(f"error: the output cannot be written: {error.strerror}", file=sys.stderr)
            return BAD_INPUT

    def _execute(self, words: list[str]) -> int:
        command = next((word for word in words if not word.startswith("-")), None)
        parser = self.parser(command)
        if command is not None and command not in self.commands:
            near = difflib.get_close_matches(command, self.commands, 1)
            meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(self.commands)}"
            print(f"error: there is no command {command!r}{meant}", file=sys.stderr)
            return BAD_INPUT
        arguments, unknown = parser.parse_known_args(words)
        if unknown:
            self._refuse(parser, command, unknown)
        if arguments.version:
            from importlib.metadata import version

            print(f"{self.name} {version('dra-scheduler')}")
            return 0
        if arguments.command is None:
            parser.print_help()
            return BAD_INPUT
        code: int = arguments.execute(arguments)
        return code
