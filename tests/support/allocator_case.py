"""An allocator case as files have it."""

from __future__ import annotations

from typing import Any

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "unknownKey": 1}


def allocator_case(**expected: Any) -> dict[str, Any]:
    """A claim for the one device of a node; `expected` as in the files."""
    device_class = {"metadata": {"name": "c"}, "spec": {}}
    slice_ = {
        "metadata": {"name": "s"},
        "spec": {
            "driver": "d",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "a"}],
        },
    }
    claim = {
        "metadata": {"name": "k", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
    }
    return {
        "name": "mine",
        "comment": "a key that nobody knows",
        "input": {"node": NODE, "classes": [device_class], "slices": [slice_], "claimsToAllocate": [claim]},
        "expected": expected,
    }
