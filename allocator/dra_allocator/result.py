"""From picked devices to what is written into the claims' status."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dra_allocator.candidates import Candidates
from dra_allocator.claim import OpaqueConfig
from dra_allocator.device import NodeScope
from dra_allocator.node import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_allocator.outcome import AllocationResult, ClaimAllocation, ConfigResult, DeviceResult
from dra_allocator.problem import NodeProblem
from dra_allocator.requests import ResolvedClaim
from dra_cel.quantity import Quantity

Consumed = Callable[[Candidates, int], Mapping[str, Quantity] | None]
"""What a pick consumes of a device that is shared, by fully qualified capacity name; None: the device is not shared."""

Pick = tuple[Candidates, int]
_NODES = 1 << 13


@dataclass(frozen=True, slots=True)
class Solution:
    """What a search found: the alternative chosen for each request, and the devices in the order of the picks."""

    chosen: Sequence[Candidates]
    picks: Sequence[Pick]


def build(
    problem: NodeProblem,
    claims: Sequence[ResolvedClaim],
    solution: Solution,
    consumed: Consumed,
    share_ids: Callable[[], str],
) -> tuple[ClaimAllocation, ...]:
    """Return the allocation of each claim."""
    allocations = []
    for number, claim in enumerate(claims):
        own = [pick for pick in solution.picks if pick[0].claim == number]
        names = [one.request for one in solution.chosen if one.claim == number]
        devices = tuple(_device(problem, pick, consumed, share_ids) for pick in own)
        config = _config(claim, [(one.parent, one.name, one.device_class.name) for one in names])
        selector = _node_selector(problem, [position for _, position in own])
        allocations.append(ClaimAllocation(claim.claim.uid, AllocationResult(devices, config, selector)))
    return tuple(allocations)


def _device(problem: NodeProblem, pick: Pick, consumed: Consumed, share_ids: Callable[[], str]) -> DeviceResult:
    candidates, position = pick
    traits = problem.traits[position]
    binding = problem.view.features.binding_conditions
    share = consumed(candidates, position)
    return DeviceResult(
        request=candidates.request.name,
        device=problem.device(position),
        admin_access=True if candidates.admin else None,
        tolerations=candidates.request.spec.tolerations,
        share_id=None if share is None else share_ids(),
        consumed_capacity=share or {},
        binding_conditions=traits.binding_conditions if binding else (),
        binding_failure_conditions=traits.binding_failure_conditions if binding else (),
        skip_node_operations=problem.skips_node_operations(position),
    )


def _config(claim: ResolvedClaim, chosen: Sequence[tuple[str, str, str]]) -> tuple[ConfigResult, ...]:
    """Return the configs of the picked classes, each class once, then the claim's that name a picked request.

    `chosen` has per request its name, the result's name for it, and its class. A config for every request says so by
    naming none.
    """
    classes = {one.device_class.name: one.device_class for request in claim.requests for one in request}
    if not claim.claim.config and not any(one.config for one in classes.values()):
        return ()
    by_class: dict[str, list[str]] = {}
    for _, name, class_name in chosen:
        by_class.setdefault(class_name, []).append(name)
    results = [
        ConfigResult("FromClass", _for_requests(config, names, chosen))
        for class_name, names in by_class.items()
        for config in classes[class_name].config
    ]
    for config in claim.claim.config:
        named = {*config.requests}
        if not named or any(parent in named or name in named for parent, name, _ in chosen):
            results.append(ConfigResult("FromClaim", _for_requests(config, config.requests, chosen)))
    return tuple(results)


def _for_requests(
    config: OpaqueConfig, requests: Sequence[str], chosen: Sequence[tuple[str, str, str]]
) -> OpaqueConfig:
    named = {*requests}
    for_all = all(parent in named or name in named for parent, name, _ in chosen)
    return OpaqueConfig(config.driver, config.parameters, () if for_all else tuple(requests))


def _node_selector(problem: NodeProblem, positions: Sequence[int]) -> NodeSelector | None:
    """Return where the allocation can be used: this node, what the devices' selectors have in common, or anywhere."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for position in positions:
        scope = _scope(problem, position)
        if problem.traits[position].binds_to_node or (scope is not None and scope.node_name is not None):
            return _only(problem.layout.node)
        if scope is not None and scope.selector is not None:
            for term in scope.selector.terms[:1]:
                _add(fields, term.match_fields)
                _add(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    return NodeSelector((NodeSelectorTerm(tuple(expressions), tuple(fields)),))


@lru_cache(_NODES)
def _only(node: str) -> NodeSelector:
    """Return what selects one node."""
    name = NodeSelectorRequirement("metadata.name", "In", (node,))
    return NodeSelector((NodeSelectorTerm(match_fields=(name,)),))


def _scope(problem: NodeProblem, position: int) -> NodeScope | None:
    record = problem.layout.records[position]
    return problem.traits[position].scope if record.per_device else record.scope


def _add(known: list[NodeSelectorRequirement], more: Sequence[NodeSelectorRequirement]) -> None:
    for requirement in more:
        if not any(
            one.key == requirement.key
            and one.operator == requirement.operator
            and {*one.values} == {*requirement.values}
            for one in known
        ):
            known.append(requirement)
