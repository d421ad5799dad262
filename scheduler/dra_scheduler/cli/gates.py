"""`--feature-gates A=true,B=false`."""

from __future__ import annotations

import argparse
import difflib

from dra_allocator.features import GATES

ALSO = ("DRAResourceClaimDeviceStatus", "DynamicResourceAllocation", "DRASchedulerFilterTimeout", "DRADeviceTaintRules")
"""Gates that we know without being a feature of the allocator by themselves."""


def feature_gates(text: str) -> dict[str, bool]:
    """Parse the option's value; for argparse's `type`. Raises argparse.ArgumentTypeError."""
    gates: dict[str, bool] = {}
    known = [*GATES, *ALSO]
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or value.lower() not in ("true", "false"):
            raise argparse.ArgumentTypeError(f"{part!r} is not GATE=true or GATE=false")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(sorted(known))}"
            raise argparse.ArgumentTypeError(f"unknown feature gate {name!r}{hint}")
        gates[name] = value.lower() == "true"
    return gates
