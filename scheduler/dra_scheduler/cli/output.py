"""Plain data as JSON or YAML on standard output."""

from __future__ import annotations

import sys
from typing import Any

import orjson


def print_json(data: Any) -> None:
    """Print indented JSON."""
    sys.stdout.write(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n")


def print_json_line(data: Any) -> None:
    """Print JSON in one line, at once: for output that goes on."""
    sys.stdout.write(orjson.dumps(data).decode() + "\n")
    sys.stdout.flush()


def print_data(data: Any, form: str) -> None:
    """Print as `json` or `yaml`."""
    if form == "yaml":
        import yaml

        # The one in C takes a tenth of the time, and is not everywhere.
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        plain = orjson.loads(orjson.dumps(data))
        yaml.dump(plain, sys.stdout, Dumper=dumper, sort_keys=False, allow_unicode=True)
    else:
        print_json(data)
