"""When rules say something and when they keep quiet; docs/lint.md has an example of every one."""

from __future__ import annotations

import pytest

from support.lint import names, report_on
from support.lint_page import BASE

CLASS, SLICE = BASE.split("---\n")[2:]


def claim(request: str, more: str = "", kind: str = "ResourceClaim") -> str:
    return f"""\
apiVersion: resource.k8s.io/v1
kind: {kind}
metadata: {{name: claim}}
spec:
  devices:
    requests:
    - {request}
{more}
"""


def selecting(expression: str) -> str:
    return claim(f"""name: gpu
      exactly:
        deviceClassName: gpu
        selectors: [{{cel: {{expression: '{expression}'}}}}]""")


def pod(entry: str, use: str = "{name: gpu}", *, kind: str = "Pod") -> str:
    spec = f"{{resourceClaims: [{entry}], containers: [{{name: main, resources: {{claims: [{use}]}}}}]}}"
    if kind == "Pod":
        return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {spec}\n"
    body = f"{{template: {{spec: {spec}}}}}"
    body = f"{{jobTemplate: {{spec: {body}}}}}" if kind == "CronJob" else body
    return f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec: {body}\n"


A = 'device.attributes["gpu.example.com"]'
SIMPLE = claim("{name: gpu, exactly: {deviceClassName: gpu}}")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        (f"{A}.index == 1.0", []),
        (f'has({A}.nosuch) && {A}.index == "0"', ["unknown-attribute"]),
        (f'"nosuch" in {A}', ["unknown-attribute"]),
        (f"{A}.?model.orValue(3) == 3", ["wrong-type-compared"]),
        (f'{A}.index in ["0", "1"]', ["wrong-type-compared"]),
        (f'{A}.index in [0, "1"]', ["selector-invalid"]),
        (f'{A}.index.startsWith("a")', ["wrong-type-compared"]),
        (f'cel.bind(a, {A}, a.model == 1 || a.model == "A100")', ["wrong-type-compared"]),
        (f'{A}.exists(k, k == "model")', []),
        (f'["x"].exists(device, device == 1) || {A}.index >= 0', ["selector-invalid"]),
        (f'{A}.memory == "80Gi"', ["unknown-attribute"]),
        ('device.capacity["gpu.example.com"].memory.compareTo(quantity("90Gi")) > 0', ["selector-matches-nothing"]),
        ('device.driver == "gpu.exmaple.com"', ["selector-matches-nothing"]),
        ("1 / 0 == 1", ["selector-fails"]),
        ("lists.range(100000).all(i, lists.range(100000).all(j, i + j >= 0))", ["selector-too-costly"]),
    ],
)
def test_a_selector_has_the_one_finding_that_says_most(expression: str, found: list[str]) -> None:
    report = report_on(BASE, selecting(expression))
    assert names(report) == found, [str(one) for one in report.findings]


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        (f'{A}.model == "A1000"', "gpu.example.com/model: did you mean A100?"),
        (f'{A}.pciRoot in ["x", "y"]', "gpu.example.com/pciRoot is a in these devices"),
        ('device.driver == "gpu.exmaple.com"', "device.driver: did you mean gpu.example.com?"),
        (f"{A}.index > 7", "`dra-scheduler cel` shows why, by device"),
        (f'{A}.Model == "A100"', "did you mean gpu.example.com/model?"),
        (f"{A}.memory == 1", "it is a capacity: read it from device.capacity"),
        (f'{A}.index == "1"', "write 1 without quotes"),
        (f'{A}.vendor == "x"', "there are index, links, model and pciRoot"),
        (f"{A}.model == 100", 'write it in quotes: "100"'),
    ],
)
def test_what_was_probably_meant_is_in_the_hint(expression: str, hint: str) -> None:
    assert [one.problem.hint for one in report_on(BASE, selecting(expression)).findings] == [hint]


def test_without_slices_nothing_is_said_about_what_they_publish() -> None:
    assert names(report_on(CLASS, selecting(f'{A}.nosuch == 1 && device.attributes["x"].y'))) == []


def test_a_slice_that_cannot_be_read_may_publish_anything() -> None:
    broken = SLICE.replace("node-1-gpus", "other").replace("resourceSliceCount: 1", "resourceSliceCount: many")
    assert names(report_on(BASE, broken, selecting(f"{A}.nosuch == 1"))) == ["wrong-value"]


def test_a_text_that_cannot_be_read_may_hold_anything() -> None:
    assert names(report_on(BASE, SIMPLE.replace("gpu}", "nosuch}"))) == ["class-missing"]
    report = report_on(BASE, SIMPLE.replace("gpu}", "nosuch}"), "{")
    assert (names(report), len(report.unreadable)) == ([], 1)


def test_an_object_that_is_there_and_wrong_is_not_missing() -> None:
    other = CLASS.replace("gpu}", "nic}").replace("expression:", "expresion:")
    report = report_on(BASE, other, SIMPLE.replace("gpu}", "nic}"))
    assert (names(report), report.objects) == (["unknown-field"], 6)


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"])
def test_pods_of_workloads_are_pods(kind: str) -> None:
    use = pod("{name: gpu, resourceClaimName: clam}", kind=kind)
    report = report_on(BASE, SIMPLE, use)
    assert sorted(names(report)) == ["claim-missing", "claim-unused"]
    assert names(report_on(BASE, SIMPLE, pod("{name: gpu, resourceClaimName: claim}", kind=kind))) == []


def test_types_are_looked_at_in_workloads_too() -> None:
    entry = "{name: gpu, resourceClaimName: 3, clam: claim}"
    assert sorted(names(report_on(BASE, pod(entry, kind="Job")))) == ["unknown-field", "wrong-value"]


def test_any_kind_of_object_may_name_a_claim() -> None:
    crd = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec: {groups: [{resourceClaimName: claim}]}\n"
    other = pod("{name: gpu, resourceClaimName: other}")
    assert names(report_on(BASE, SIMPLE, SIMPLE.replace("name: claim}", "name: other}"), other, crd)) == []


def test_a_claim_of_somebody_is_not_unused() -> None:
    owned = SIMPLE.replace("{name: claim}", "{name: claim, ownerReferences: [{kind: Pod, name: x, uid: y}]}")
    assert "claim-unused" not in names(report_on(BASE, owned, pod("{name: gpu, resourceClaimName: claim}")))


def test_a_pod_that_has_ended_needs_nothing() -> None:
    ended = pod("{name: gpu, resourceClaimName: gone}") + "status: {phase: Succeeded}\n"
    other = pod("{name: gpu, resourceClaimName: claim}").replace("{name: p}", "{name: q}")
    assert names(report_on(BASE, SIMPLE, ended, other)) == []


def test_names_are_looked_up_in_the_namespace_of_the_pod() -> None:
    there = SIMPLE.replace("{name: claim}", "{name: claim, namespace: other}")
    report = report_on(BASE, there, pod("{name: gpu, resourceClaimName: claim}"))
    assert sorted(names(report)) == ["claim-missing", "claim-unused"]
    assert any("there is one in namespace other" in str(one) for one in report.findings)


def test_a_template_that_is_meant_as_claim_is_told() -> None:
    template = claim("{name: gpu, exactly: {deviceClassName: gpu}}", kind="ResourceClaimTemplate")
    template = template.replace("spec:\n  devices", "spec:\n spec:\n  devices")
    wrong = pod(
        "{name: gpu, resourceClaimName: claim}, {name: b, resourceClaimTemplateName: claim}", "{name: gpu}, {name: b}"
    )
    other = SIMPLE.replace("{name: claim}", "{name: other}")
    found = [str(one) for one in report_on(BASE, template, other, wrong).findings]
    assert any("there is a ResourceClaimTemplate of that name: write resourceClaimTemplateName" in one for one in found)


@pytest.mark.parametrize(
    ("gates", "minor", "found"),
    [
        ({}, 37, []),
        ({}, 35, ["gate-needed"]),
        ({"DRAConsumableCapacity": True}, 35, []),
        ({"DRAConsumableCapacity": False}, 37, ["gate-needed"]),
    ],
)
def test_gates_are_those_of_the_version_and_of_the_option(gates: dict[str, bool], minor: int, found: list[str]) -> None:
    text = claim("{name: gpu, exactly: {deviceClassName: gpu, capacity: {requests: {memory: 1Gi}}}}")
    assert names(report_on(BASE, text, gates=gates, minor=minor)) == found


def test_a_function_over_lists_needs_its_gate() -> None:
    expression = f'{A}.model.includes("A100")'
    assert names(report_on(BASE, selecting(expression))) == ["gate-needed"]
    assert names(report_on(BASE, selecting(expression), gates={"DRAListTypeAttributes": True})) == []


ALTERNATIVES = """\
name: gpu
      firstAvailable:
      - {first}
      - {second}"""
ONE = "{name: one, deviceClassName: gpu}"
TWO = "{name: two, deviceClassName: gpu, count: 2}"
SELECTING = (
    """{name: fast, deviceClassName: gpu, selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}"""
)


@pytest.mark.parametrize(
    ("first", "second", "more", "found"),
    [
        (ONE, TWO, "", ["subrequest-unreachable"]),
        (TWO, ONE, "", []),
        (ONE, SELECTING, "", ["subrequest-unreachable"]),
        (SELECTING, ONE, "", []),
        (ONE, "{name: all, deviceClassName: gpu, allocationMode: All}", "", []),
        (ONE.replace("gpu}", "gpu, tolerations: [{operator: Exists}]}"), TWO, "", ["subrequest-unreachable"]),
        (ONE, TWO.replace("count", "tolerations: [{operator: Exists}], count"), "", []),
        (
            ONE,
            TWO,
            "    constraints: [{requests: [gpu/one], matchAttribute: gpu.example.com/pciRoot}]",
            ["constraint-without-effect"],
        ),
        (
            ONE,
            TWO,
            "    constraints: [{requests: [gpu], matchAttribute: gpu.example.com/pciRoot}]",
            ["subrequest-unreachable"],
        ),
    ],
)
def test_an_alternative_is_unreachable_only_where_that_is_certain(
    first: str, second: str, more: str, found: list[str]
) -> None:
    text = claim(ALTERNATIVES.format(first=first, second=second), more)
    report = report_on(BASE, text)
    assert names(report) == found, [str(one) for one in report.findings]


def test_an_object_without_a_name_is_named_by_what_its_name_is_made_of() -> None:
    text = SIMPLE.replace("{name: claim}", "{generateName: claim-}").replace("gpu}", "nosuch}")
    assert [one.problem.object for one in report_on(BASE, text).findings] == ["ResourceClaim default/claim-"]


RULE = """\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: rule}
spec:
  deviceSelector: SELECTOR
  taint: {key: example.com/upgrade, effect: NoSchedule}
"""


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("{}", []),
        ("{driver: gpu.example.com, pool: node-1, device: gpu-1}", []),
        ("{driver: gpu.example.com, pool: node-1, device: gpu-2}", ["taint-rule-matches-nothing"]),
        ("{pool: node-2}", ["taint-rule-matches-nothing"]),
        ("", ["taint-rule-matches-nothing"]),
    ],
)
def test_a_taint_rule_is_for_some_device(selector: str, found: list[str]) -> None:
    assert names(report_on(BASE, RULE.replace("SELECTOR", selector))) == found


def test_a_taint_of_a_rule_is_tolerated_or_not() -> None:
    rule = RULE.replace("SELECTOR", "{}")
    assert names(report_on(BASE, rule, SIMPLE)) == ["taint-untolerated"]
    tolerating = claim("{name: gpu, exactly: {deviceClassName: gpu, tolerations: [{operator: Exists}]}}")
    assert names(report_on(BASE, rule, tolerating)) == []


@pytest.mark.parametrize(
    ("counts", "nodes", "hint"),
    [
        ((2,), ("node-1",), "nothing is taken from the pool until all its slices are there"),
        ((1, 1), ("node-1", "node-2"), "give each node a pool of its own"),
        ((1, 1), ("node-1", "node-1"), "write the number of slices in each of them"),
        ((2, 1), ("node-1", "node-1"), "write the number of slices in each of them"),
        ((2, 2), ("node-1", "node-1"), None),
    ],
)
def test_a_pool_has_as_many_slices_as_it_says(
    counts: tuple[int, ...], nodes: tuple[str, ...], hint: str | None
) -> None:
    texts = [
        f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: nics-{i}}}
spec:
  driver: nic.example.com
  nodeName: {node}
  pool: {{name: nics, generation: 1, resourceSliceCount: {count}}}
  devices: [{{name: nic-{i}}}]
"""
        for i, (count, node) in enumerate(zip(counts, nodes, strict=True))
    ]
    found = [(one.name, one.problem.hint) for one in report_on(BASE, *texts).findings]
    assert found == ([] if hint is None else [("pool-slice-count", hint)])


def test_a_configuration_of_a_class_is_for_its_devices() -> None:
    other = CLASS.replace("gpu}", "other}") + "  config: [{opaque: {driver: nic.example.com, parameters: {}}}]\n"
    assert names(report_on(BASE, other)) == ["config-driver-unselected"]


def test_groups_of_pods_name_claims_too() -> None:
    group = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
    group += "spec: {resourceClaims: [{name: gpu, resourceClaimName: clam}]}\n"
    gates = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
    assert names(report_on(BASE, SIMPLE, group, gates=gates)) == ["claim-missing"]
    assert names(report_on(BASE, SIMPLE, group.replace("clam", "claim"), gates=gates)) == []


def test_a_constraint_is_judged_by_the_devices_of_its_requests() -> None:
    constrained = (
        SIMPLE.replace("gpu}", "gpu, count: 2}") + "    constraints: [{matchAttribute: nic.example.com/port}]\n"
    )
    nics = SLICE.replace("node-1-gpus", "nics").replace("gpu.example.com", "nic.example.com").replace("pciRoot", "port")
    found = report_on(BASE, nics, constrained).findings
    assert [one.name for one in found] == ["constraint-unknown-attribute"]
    assert "no device that request gpu matches has the attribute" in str(found[0])


def test_devices_with_places_of_their_own_are_counted_by_node() -> None:
    spread = SLICE.replace("nodeName: node-1", "perDeviceNodeSelection: true")
    spread = spread.replace("- name: gpu-0", "- name: gpu-0\n    nodeName: node-1")
    spread = spread.replace("- name: gpu-1", "- name: gpu-1\n    nodeName: node-2")
    two = SIMPLE.replace("gpu}", "gpu, count: 2}")
    assert names(report_on(CLASS, spread, two)) == ["too-few-devices"]
    assert names(report_on(CLASS, spread.replace("nodeName: node-2", "allNodes: true"), two)) == []
