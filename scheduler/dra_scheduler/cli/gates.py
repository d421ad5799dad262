"""`--feature-gates A=true,B=false`."""

from __future__ import annotations

import argparse
from typing import Any

from dra_scheduler.feature_gates import FeatureGateError, check, parse_gates


def feature_gates(text: str) -> dict[str, bool]:
    """Parse the option's value; for argparse's `type`. Raises argparse.ArgumentTypeError."""
    try:
        return parse_gates(text)
    except FeatureGateError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


class AddGates(argparse.Action):
    """For argparse's `action`: given again, the option adds to what it has said, as on Kubernetes' components."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take in what `type` has made of one value. Raises argparse.ArgumentError."""
        gates = {**getattr(namespace, self.dest), **values}
        try:
            check(gates)
        except FeatureGateError as error:
            raise argparse.ArgumentError(self, str(error)) from error
        setattr(namespace, self.dest, gates)
