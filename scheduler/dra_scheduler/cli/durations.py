"""Durations on the command line: seconds (`1.5`), or as Go and Kubernetes write them (`1m30s`, `10ms`)."""

from __future__ import annotations

import argparse
import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_PART = re.compile(rf"({_NUMBER})(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"(?:{_NUMBER}|(?:{_PART.pattern})+)")


def duration(text: str) -> float:
    """Return a duration, zero or more, in seconds; for argparse's `type`. Raises argparse.ArgumentTypeError."""
    if len(text) > 64 or not _WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text[:64]!r} is not a duration: give seconds (1.5) or 1h, 1m30s, 10ms")
    parts = _PART.findall(text)
    if not parts:
        return float(text)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
