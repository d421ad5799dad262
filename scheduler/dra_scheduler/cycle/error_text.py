"""What an error of the allocator is called in conditions: kube-scheduler's words where it has any."""

from __future__ import annotations

import re

from dra_allocator.outcome import INVALID_POOLS, AllocationError

PLUGIN = 'running "DynamicResources" filter plugin: '
_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
    "for optional fields"
)
_EXPRESSION = re.compile(r" \(in .*\)$", re.DOTALL)
_DEVICE = re.compile(r", device [^\s:,]+")


def pod_error(error: AllocationError) -> str:
    """Return the message for an error that concerns the pod as a whole."""
    if error.kind not in {"selector-compile", "selector-runtime"}:
        return PLUGIN + str(error)
    whose = f"class {error.device_class}" if error.device_class else f"claim {error.claim}"
    selector, separator, problem = error.cause.partition(": ")
    if not separator or not selector.startswith("selector #"):
        return PLUGIN + str(error)
    where = "" if error.device is None else f" on device {error.device}"
    hint = _HINT if "no such key:" in problem else ""
    return f"{PLUGIN}{whose}: {selector}{where}: {_EXPRESSION.sub('', problem)}{hint}"


def node_error(text: str) -> str:
    """Return the reason for a node that fell out by an error: without what differs, so that equal ones are counted."""
    if text.startswith(INVALID_POOLS):
        return INVALID_POOLS
    return _DEVICE.sub("", _EXPRESSION.sub("", text))
