"""`--feature-gates A=true,B=false`."""

from __future__ import annotations

import argparse

from dra_scheduler.feature_gates import FeatureGateError, parse_gates


def feature_gates(text: str) -> dict[str, bool]:
    """Parse the option's value; for argparse's `type`. Raises argparse.ArgumentTypeError."""
    try:
        return parse_gates(text)
    except FeatureGateError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
