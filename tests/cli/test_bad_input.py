"""Bad input to `simulate`: a clear error with file, line, object and field, or a pending pod with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cli import Ran, run

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: d.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: a, attributes: {model: {string: big}}}
  - {name: b, attributes: {model: {string: small}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: c}
spec: {selectors: [{cel: {expression: 'device.driver == "d.example.com"'}}]}
"""

SLICE = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s2}
spec:
  driver: e.example.com
  nodeName: n1
  pool: {name: q, generation: 1, resourceSliceCount: 1}
  devices:
"""


def claim(request: str) -> str:
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: k}}
spec:
  devices:
    requests:
    - {request}
---
{pod("resourceClaimName: k")}
"""


def pod(source: str) -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  containers: [{{name: main, image: none}}]
  resourceClaims:
  - {{name: device, {source}}}
"""


def exactly(fields: str) -> str:
    return claim(f"{{name: r, exactly: {{deviceClassName: c, {fields}}}}}")


def selector(expression: str) -> str:
    return exactly(f"selectors: [{{cel: {{expression: '{expression}'}}}}]")


def simulate(folder: Path, content: str | bytes) -> Ran:
    (folder / "cluster.yaml").write_text(CLUSTER)
    (folder / "given.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    return run("simulate", "-f", str(folder / "cluster.yaml"), "-f", str(folder / "given.yaml"))


REFUSED = {
    "malformed YAML": ("kind: Pod\nmetadata: {name: [}", "given.yaml:2: column"),
    "a tab where YAML takes none": ("kind:\n\tPod", "given.yaml:2: column"),
    "not UTF-8": (b"kind: \xff\xfe", "given.yaml:1: is not UTF-8 (byte 6)"),
    "no kind": ("apiVersion: v1\nmetadata: {name: x}", "given.yaml:1: kind: is missing"),
    "a scalar instead of an object": ("just words", "given.yaml:1: is not an object"),
    "an unknown kind of our own group": (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClame\nmetadata: {name: x}",
        "given.yaml:2: ResourceClame x: kind: ResourceClame is not a kind of resource.k8s.io",
    ),
    "a wrong field type": (
        exactly("count: many"),
        "given.yaml:8: ResourceClaim k: spec.devices.requests[0].exactly.count: must be an integer",
    ),
    "no form of request in v1": (
        claim("{name: r}"),
        "given.yaml:8: ResourceClaim default/k: spec.devices.requests[0]: Required value: exactly one of",
    ),
    "a request in the form of v1beta1": (
        claim("{name: r, deviceClassName: c}"),
        "given.yaml:8: ResourceClaim k: spec.devices.requests[0].deviceClassName: is not a field of a request "
        "in v1; here it belongs under exactly",
    ),
    "the same device twice in a slice": (
        SLICE + "  - {name: a}\n  - {name: a}\n",
        'given.yaml:11: ResourceSlice s2: spec.devices[1]: Duplicate value: "a"',
    ),
    "a bad quantity": (
        SLICE + "  - {name: a, capacity: {memory: {value: 12Qx}}}\n",
        "given.yaml:10: ResourceSlice s2: spec.devices[0].capacity[memory].value: '12Qx' is not a quantity",
    ),
    "a selector that is no CEL": (
        selector("device.driver =="),
        "given.yaml:8: ResourceClaim default/k: spec.devices.requests[0].exactly.selectors[0].cel.expression: ",
    ),
    "a selector with an unknown field": (selector("device.drivr == 1"), "(did you mean 'driver'?)"),
    "a claim source of Kubernetes 1.30": (
        pod("source: {resourceClaimName: k}"),
        "given.yaml:8: Pod p: spec.resourceClaims[0].source: is of Kubernetes 1.30 and older",
    ),
    "an object of 5 MB": (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p, annotations: {{a: {'x' * 5_000_000}}}}}\nspec: {{}}\n",
        "Pod default/p: has 5000111 bytes as JSON, API servers take at most 3145728",
    ),
    "the same object twice": (claim("{name: r, exactly: {deviceClassName: c}}") * 2, "already defined"),
    "a pod without containers": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}",
        "Pod default/p: spec.containers: Required value",
    ),
}


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_with_its_place(content: str | bytes, message: str, tmp_path: Path) -> None:
    ran = simulate(tmp_path, content)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.startswith("error: ")
    assert ran.out == ""


PENDING = {
    "an unknown class": (
        claim("{name: r, exactly: {deviceClassName: nope}}"),
        "claim default/k, request r: DeviceClass nope does not exist; there is c",
    ),
    "a template that is missing": (
        pod("resourceClaimTemplateName: nope"),
        "has not been made from ResourceClaimTemplate nope yet",
    ),
    "a claim that is missing": (pod("resourceClaimName: nope"), "ResourceClaim nope does not exist"),
    "an attribute that no device has": (
        selector('device.attributes["d.example.com"].modell == "big"'),
        'attribute d.example.com/modell, did you mean device.attributes["d.example.com"].model?',
    ),
    "more devices than a node has": (
        exactly("count: 3"),
        "claim default/k, request r: 3 devices are wanted on one node, and no node has more than 2 of class c",
    ),
    "all devices while a pool is incomplete": (
        SLICE.replace("resourceSliceCount: 1", "resourceSliceCount: 2")
        + "  - {name: a}\n---"
        + exactly("allocationMode: All"),
        "request r: asks for all devices, but resource pool e.example.com/q is currently being updated",
    ),
}


@pytest.mark.parametrize(("content", "reason"), PENDING.values(), ids=PENDING)
def test_a_pod_that_cannot_be_placed_stays_pending_with_its_reason(content: str, reason: str, tmp_path: Path) -> None:
    ran = simulate(tmp_path, content)
    assert ran.code == 1
    assert reason in ran.out


def test_an_unknown_kind_is_kept_with_a_warning(tmp_path: Path) -> None:
    ran = simulate(tmp_path, "apiVersion: foo.example.com/v1\nkind: Foo\nmetadata: {name: x}")
    assert ran.code == 0
    assert "warning: " in ran.err
    assert "Foo x: kind: Foo is not a kind that is known here" in ran.err


def test_a_selector_may_be_right_on_some_devices_only_if_those_come_first(tmp_path: Path) -> None:
    ran = simulate(tmp_path, selector('device.attributes["d.example.com"].model == "big"'))
    assert ran.code == 0
    assert "n1/a" in ran.out


def test_an_incomplete_pool_takes_out_only_itself(tmp_path: Path) -> None:
    incomplete = SLICE.replace("resourceSliceCount: 1", "resourceSliceCount: 2") + "  - {name: a}\n---"
    ran = simulate(tmp_path, incomplete + exactly("count: 2"))
    assert ran.code == 0
    assert "r: n1/a, r: n1/b" in ran.out


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    ran = run("simulate", "-f", str(tmp_path / "missing.yaml"))
    assert ran.code == 2
    assert ran.err == f"error: {tmp_path}/missing.yaml: cannot be read: No such file or directory\n"


def test_no_objects_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    ran = run("simulate", "-f", str(tmp_path / "empty.yaml"))
    assert (ran.code, ran.err) == (2, "error: no objects in the files given\n")
