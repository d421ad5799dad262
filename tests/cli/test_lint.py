"""`dra-scheduler lint`: what it prints, its exit codes, files together with a cluster."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
import yaml

from dra_scheduler.lint.registry import RULES
from dra_scheduler.lint.surroundings import gates_of
from dra_scheduler.survey.snapshot import Snapshot
from support.cli import run
from support.fake_clock import START
from support.survey import Raw, run_on, serve

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = Path(__file__).resolve().parents[2] / "manifests" / "examples"
MESSY = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel: {expression: device.driver == "gpu.example.com"}
  config:
  - opaque: {driver: gpu.exmaple.com, parameters: {sharing: none}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-1-gpus}
spec:
  driver: gpu.example.com
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 2}
  devices:
  - name: gpu-0
    attributes: {model: {string: A100}, driverVersion: {version: 535.104.5}}
    capacity: {memory: {value: 80Gi}}
  - name: gpu-1
    attributes: {model: {string: A100}, driverVersion: {version: 550.54.15}}
    capacity: {memory: {value: 80Gi}}
    taints: [{key: gpu.example.com/broken, effect: NoSchedule}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two-gpus}
spec:
  spec:
    devices:
      requests:
      - name: fast
        exactly:
          deviceClassName: gpu
          selectors:
          - cel: {expression: 'device.attributes["gpu.example.com"].driverVersion == "550.54.15"'}
      - name: any
        firstAvailable:
        - {name: one, deviceClassName: gpu}
        - {name: two, deviceClassName: gpu, count: 2}
      constraints:
      - {requests: [fast, slow], matchAttribute: gpu.example.com/modell}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      resourceClaims:
      - {name: gpus, resourceClaimTemplateName: two-gpu}
      - {name: more, resourceClaimTemplateName: two-gpus}
      containers:
      - name: main
        resources: {claims: [{name: gpus, request: fst}, {name: more, request: any/one}]}
"""


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; DRA_UPDATE_GOLDEN=1 writes it."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    if os.environ.get("DRA_UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def found(out: str) -> list[str]:
    return [finding["name"] for finding in json.loads(out)["findings"]]


def test_findings_are_printed_a_line_each_with_their_place() -> None:
    ran = run("lint", "-f", "-", stdin=MESSY.encode())
    assert (ran.code, ran.err) == (1, "4 objects, 5 errors, 4 warnings\n")
    check_golden("lint.txt", ran.out)


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_findings_are_data_too(output: str) -> None:
    ran = run("lint", "-f", "-", "-o", output, stdin=MESSY.encode())
    data = json.loads(ran.out) if output == "json" else yaml.safe_load(ran.out)
    assert (ran.code, data["objects"], data["unreadable"]) == (1, 4, [])
    assert [one["line"] for one in data["findings"]] == sorted(one["line"] for one in data["findings"])
    assert data["findings"][0] == {
        "name": "config-driver-unselected",
        "severity": "warning",
        "file": "<stdin>",
        "line": 8,
        "object": "DeviceClass gpu",
        "field": "spec.config[0].opaque.driver",
        "problem": "no device that matches is of driver gpu.exmaple.com",
        "hint": "they are of gpu.example.com",
    }


def test_the_examples_that_come_with_it_have_no_findings() -> None:
    ran = run("lint", "-f", str(EXAMPLES / "cats.yaml"), "-f", str(EXAMPLES / "cats-cluster.yaml"))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith("0 errors, 0 warnings\n")


def test_old_spellings_are_findings() -> None:
    ran = run("lint", "-f", str(EXAMPLES / "cats-old-spelling.yaml"), "-o", "json")
    assert ran.code == 1
    assert set(found(ran.out)) == {"odd-separator", "name-outside-metadata", "old-version"}


def test_what_cannot_be_read_does_not_stop_the_rest() -> None:
    text = MESSY + "---\n{ this is: [no YAML\n---\n" + CLAIM
    ran = run("lint", "-f", "-", stdin=text.encode())
    assert ran.code == 2
    assert "error: <stdin>:59: column" in ran.err
    assert ran.err.endswith("5 objects, 2 errors, 1 warning, 1 text unreadable\n")
    assert "[wrong-type-compared]" not in ran.out, "what the text holds that cannot be read is not known"
    assert "[subrequest-unreachable]" in ran.out


def test_a_file_that_is_not_there_is_unreadable() -> None:
    ran = run("lint", "-f", "nosuch.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert "nosuch.yaml: cannot be read" in ran.err


def test_findings_can_be_left_out() -> None:
    names = found(run("lint", "-f", "-", "-o", "json", stdin=MESSY.encode()).out)
    words = [word for name in set(names) - {"pool-slice-count"} for word in ("--ignore", name)]
    ran = run("lint", "-f", "-", "-o", "json", *words, stdin=MESSY.encode())
    assert (ran.code, found(ran.out)) == (1, ["pool-slice-count"])
    assert run("lint", "-f", "-", *words, "--ignore", "pool-slice-count", stdin=MESSY.encode()).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the files to look at (-f), or a cluster"),
        (["-f", "-", "--ignore", "nosuch"], "--ignore nosuch: no finding has that name; see --list"),
        (["-f", "-", "--kubernetes", "2.1"], "'2.1' is not 1.N"),
        (["-f", "-", "--feature-gates", "DRAListTypeAttribute=true"], "did you mean DRAListTypeAttributes?"),
        (["-f", "-"], "no objects in what was given"),
        (["--kubeconfig", "/nosuch/config"], "/nosuch/config"),
    ],
)
def test_bad_input_is_named(words: list[str], message: str) -> None:
    ran = run("lint", *words, stdin=b"")
    assert ran.code == 2
    assert message in ran.err


def test_the_names_can_be_listed() -> None:
    ran = run("lint", "--list")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(RULES)


def cluster() -> list[Raw]:
    """A class, a node, a slice, as an API server has them."""
    documents = list(yaml.safe_load_all(MESSY))[:2]
    documents[1]["spec"]["pool"]["resourceSliceCount"] = 1
    for document in documents:
        document["metadata"]["uid"] = f"uid-{document['metadata']['name']}"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "uid": "uid-node-1"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "uid": "uid-ns"}}
    return [namespace, node, *documents]


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu
        selectors:
        - cel: {expression: 'device.attributes["gpu.example.com"].modell == "A100"'}
    - name: nic
      exactly: {deviceClassName: nic}
"""


def test_files_are_looked_at_with_a_cluster_around_them() -> None:
    served = serve(*cluster())
    path = ["--kubeconfig", "some-config", "-f", "-", "-o", "json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", _stdin(CLAIM))
        ran = run_on(served, "lint", *path)
    assert ran.code == 1, ran
    assert found(ran.out) == ["unknown-attribute", "class-missing"]
    assert json.loads(ran.out)["objects"] == 1
    assert served.methods == {"GET"}


def test_alone_a_cluster_is_looked_at_itself() -> None:
    ran = run_on(serve(*cluster()), "lint", "--kubeconfig", "some-config")
    assert (ran.code, ran.err.splitlines()[-1]) == (1, "7 objects, 0 errors, 1 warning")
    check_golden("lint-cluster.txt", ran.out)


def test_gates_are_those_that_the_cluster_tells() -> None:
    snapshot = Snapshot("a test", START, minor=36, gates={"DRAListTypeAttributes": True, "NotOurs": True})
    gates, minor = gates_of(snapshot, {})
    assert (gates.enabled("DRAListTypeAttributes"), gates.enabled("DRADerivedAttributes"), minor) == (True, False, 36)


def test_gates_that_go_against_the_cluster_are_an_error() -> None:
    served = serve(*cluster())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dra_scheduler.survey.api_server.read_gates", _without_partitions)
        ran = run_on(served, "lint", "--context", "c", "--feature-gates", "DRADeviceCompatibilityGroups=true")
    assert (ran.code, ran.out) == (2, "")
    assert "error: --feature-gates: DRADeviceCompatibilityGroups=true needs DRAPartitionableDevices=true" in ran.err


async def _without_partitions(_: object) -> dict[str, bool]:
    return {"DRAPartitionableDevices": False}


def _stdin(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()))


def test_a_template_of_a_chart_is_known_and_what_to_do_said(tmp_path: Path) -> None:
    file = tmp_path / "claim.yaml"
    file.write_text("{{- if .Values.gpu }}\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n{{- end }}\n")
    ran = run("lint", "-f", str(file))
    assert ran.code == 2
    assert "this looks like a template of a Helm chart; render it first: helm template CHART" in ran.err
