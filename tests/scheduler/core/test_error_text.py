"""Errors of the allocator in kube-scheduler's words."""

from dra_allocator.device import DeviceID
from dra_allocator.outcome import AllocationError
from dra_scheduler.cycle.error_text import node_error, pod_error

DEVICE = DeviceID("gpu.example.com", "n0", "gpu-0")
CAUSE = 'selector #1: CEL runtime error: no such key: model (in \'device.attributes["x"].model == "a: (b)"\')'
PLUGIN = 'running "DynamicResources" filter plugin: '


def test_a_selector_that_fails_is_told_as_kube_scheduler_does() -> None:
    of_class = AllocationError("pod", "selector-runtime", CAUSE, "default/c", "gpu", DEVICE, "fast")
    hint = (
        ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
        "for optional fields"
    )
    where = "selector #1 on device gpu.example.com/n0/gpu-0: CEL runtime error: no such key: model"
    assert pod_error(of_class) == f"{PLUGIN}class fast: {where}{hint}"
    of_claim = AllocationError("pod", "selector-runtime", CAUSE, "default/c", "gpu", DEVICE)
    assert pod_error(of_claim) == f"{PLUGIN}claim default/c: {where}{hint}"


def test_a_selector_that_does_not_compile_names_no_device() -> None:
    error = AllocationError("pod", "selector-compile", "selector #0: CEL compile error: line 1: bad", "default/c")
    assert pod_error(error) == f"{PLUGIN}claim default/c: selector #0: CEL compile error: line 1: bad"


def test_other_errors_are_told_as_they_are() -> None:
    error = AllocationError("pod", "feature-disabled", "the feature is disabled", "default/c", "gpu")
    assert pod_error(error) == f"{PLUGIN}claim default/c, request gpu: the feature is disabled"


def test_equal_errors_on_many_nodes_are_one_reason() -> None:
    texts = {
        node_error(
            str(AllocationError("node", "selector-runtime", CAUSE, "default/c", "gpu", DeviceID("d", pool, "x")))
        )
        for pool in ("n0", "n1", "n2")
    }
    assert texts == {"claim default/c, request gpu: selector #1: CEL runtime error: no such key: model"}
