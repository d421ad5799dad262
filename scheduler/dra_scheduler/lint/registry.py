"""All rules, in the order in which docs/lint.md explains them."""

from __future__ import annotations

from collections.abc import Mapping

from dra_scheduler.lint.finding import Rule
from dra_scheduler.lint.rules import (
    api,
    configuration,
    constraints,
    gates,
    nodes,
    pods,
    pools,
    reading,
    requests,
    selectors,
    taints,
    usage,
)

RULES: Mapping[str, Rule] = {
    rule.name: rule
    for module in (
        reading,
        api,
        gates,
        selectors,
        requests,
        constraints,
        configuration,
        taints,
        pools,
        nodes,
        pods,
        usage,
    )
    for rule in module.RULES
}
"""By name."""
