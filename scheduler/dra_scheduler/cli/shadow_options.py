"""The options of `run --shadow`, apart from what it needs to run, so that `--help` is fast."""

from __future__ import annotations

import argparse

from dra_scheduler.cli.durations import duration


def add_shadow(parser: argparse.ArgumentParser) -> None:
    """The options of a shadow."""
    parser.add_argument(
        "--shadow",
        action="store_true",
        help="write nothing: decide all pods (or those of --scheduler-name) and tell where the cluster's own "
        "scheduler decides otherwise",
    )
    parser.add_argument("--shadow-for", type=duration, metavar="TIME", help="end a shadow after seconds, or 10m")
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="of a shadow: text, or a JSON object a line"
    )
