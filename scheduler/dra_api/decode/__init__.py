"""v1 objects as raw dicts to the engine's types.

Unknown fields are ignored, as the API asks of its clients; an unknown *kind* of device, request, constraint or selector
is kept as `unsupported`, so that it is never picked or is refused by name; a wrong type raises DecodeError.
"""

from dra_api.decode.allocations import allocation_result
from dra_api.decode.claims import device_class, resource_claim
from dra_api.decode.nodes import node, node_selector
from dra_api.decode.slices import resource_slice, taint_rule

__all__ = [
    "allocation_result",
    "device_class",
    "node",
    "node_selector",
    "resource_claim",
    "resource_slice",
    "taint_rule",
]
