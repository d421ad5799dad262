"""Whether a kubelet may start a bound pod: its claims are allocated, reserved for it, and reachable from its node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_allocator.node_selector import matches
from dra_api.decode import node as decode_node
from dra_api.decode import node_selector
from dra_api.errors import ApiError
from dra_embedded.claims.names import claim_name, is_reserved_for

Object = dict[str, Any]


def obstacle(pod: Object, claims: Mapping[str, Object], nodes: Mapping[str, Object]) -> str | None:
    """Why a bound pod cannot start yet; None: it can."""
    node_name = pod["spec"]["nodeName"]
    node = nodes.get(node_name)
    if node is None:
        return f"node {node_name} does not exist"
    for entry in pod["spec"].get("resourceClaims") or ():
        name = claim_name(pod, entry)
        if name is None:
            return f"the ResourceClaim of {entry['name']} has not been made"
        if name:
            problem = _claim_obstacle(pod, name, claims, node)
            if problem is not None:
                return problem
    extended = ((pod.get("status") or {}).get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    return _claim_obstacle(pod, extended, claims, node) if extended else None


def _claim_obstacle(pod: Object, name: str, claims: Mapping[str, Object], node: Object) -> str | None:
    claim = claims.get(f"{pod['metadata']['namespace']}/{name}")
    if claim is None:
        return f"ResourceClaim {name} does not exist"
    status = claim.get("status") or {}
    allocation = status.get("allocation")
    if not allocation:
        return f"ResourceClaim {name} is not allocated"
    if not is_reserved_for(claim, pod):
        return f"ResourceClaim {name} is not reserved for the pod"
    selector = allocation.get("nodeSelector")
    if selector is None:
        return None
    try:
        if not matches(node_selector(selector, "status.allocation.nodeSelector"), decode_node(node)):
            return f"ResourceClaim {name} is allocated for other nodes than {node['metadata']['name']}"
    except ApiError as error:
        return f"ResourceClaim {name}: {error}"
    return None
