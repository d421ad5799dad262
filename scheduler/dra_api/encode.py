"""The engine's types to v1 objects as raw dicts: what is written into `status.allocation`.

`allocationTimestamp` is left to the writer, who has a clock. Empty fields are left out, as in Kubernetes.
"""

from __future__ import annotations

from typing import Any

from dra_allocator.claim import OpaqueConfig, Toleration
from dra_allocator.node import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_allocator.outcome import AllocationResult, ConfigResult, DeviceResult


def allocation(result: AllocationResult) -> dict[str, Any]:
    """Return the object for `status.allocation`."""
    devices: dict[str, Any] = {}
    if result.devices:
        devices["results"] = [_device(device) for device in result.devices]
    if result.config:
        devices["config"] = [_config(config) for config in result.config]
    encoded: dict[str, Any] = {"devices": devices}
    if result.node_selector is not None:
        encoded["nodeSelector"] = node_selector(result.node_selector)
    return encoded


def _device(result: DeviceResult) -> dict[str, Any]:
    driver, pool, device = result.device
    encoded: dict[str, Any] = {"request": result.request, "driver": driver, "pool": pool, "device": device}
    if result.admin_access is not None:
        encoded["adminAccess"] = result.admin_access
    if result.tolerations:
        encoded["tolerations"] = [toleration(entry) for entry in result.tolerations]
    if result.binding_conditions:
        encoded["bindingConditions"] = list(result.binding_conditions)
    if result.binding_failure_conditions:
        encoded["bindingFailureConditions"] = list(result.binding_failure_conditions)
    if result.share_id is not None:
        encoded["shareID"] = result.share_id
    if result.consumed_capacity:
        encoded["consumedCapacity"] = {name: str(value) for name, value in sorted(result.consumed_capacity.items())}
    if result.skip_node_operations:
        encoded["skipNodeOperations"] = list(result.skip_node_operations)
    return encoded


def toleration(entry: Toleration) -> dict[str, Any]:
    """Return a toleration; the operator is always written."""
    encoded: dict[str, Any] = {"operator": entry.operator}
    if entry.key:
        encoded["key"] = entry.key
    if entry.value:
        encoded["value"] = entry.value
    if entry.effect is not None:
        encoded["effect"] = entry.effect
    if entry.toleration_seconds is not None:
        encoded["tolerationSeconds"] = entry.toleration_seconds
    return encoded


def _config(result: ConfigResult) -> dict[str, Any]:
    encoded: dict[str, Any] = {"source": result.source}
    if result.config.requests:
        encoded["requests"] = list(result.config.requests)
    encoded["opaque"] = _opaque(result.config)
    return encoded


def _opaque(config: OpaqueConfig) -> dict[str, Any]:
    return {"driver": config.driver, "parameters": config.parameters}


def node_selector(selector: NodeSelector) -> dict[str, Any]:
    """Return a node selector (core/v1)."""
    return {"nodeSelectorTerms": [_term(term) for term in selector.terms]}


def _term(term: NodeSelectorTerm) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    if term.match_expressions:
        encoded["matchExpressions"] = [_requirement(entry) for entry in term.match_expressions]
    if term.match_fields:
        encoded["matchFields"] = [_requirement(entry) for entry in term.match_fields]
    return encoded


def _requirement(requirement: NodeSelectorRequirement) -> dict[str, Any]:
    encoded: dict[str, Any] = {"key": requirement.key, "operator": requirement.operator}
    if requirement.values:
        encoded["values"] = list(requirement.values)
    return encoded
