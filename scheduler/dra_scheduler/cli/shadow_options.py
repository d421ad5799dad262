"""The options of `run --shadow`, apart from what it needs to run, so that `--help` is fast."""

from __future__ import annotations

import argparse


def add_shadow(parser: argparse.ArgumentParser) -> None:
    """The options of a shadow."""
    parser.add_argument(
        "--shadow",
        action="store_true",
        help="write nothing: decide all pods (or those of --scheduler-name) and tell where the cluster's own "
        "scheduler decides otherwise",
    )
    parser.add_argument("--shadow-for", type=float, metavar="S", help="end a shadow after that many seconds")
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="of a shadow: text, or a JSON object a line"
    )
