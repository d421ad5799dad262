"""`dra-scheduler explain` for pending and for placed pods of any scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.cli import run
from support.golden import check_golden
from support.stage import claim, device_class, node, pod, resource_slice, template
from support.survey import allocated, run_on, serve

Raw = dict[str, Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "manifests" / "examples"
KUBE = "default-scheduler"


def named(made: Raw, **status: Any) -> Raw:
    made["metadata"]["uid"] = f"uid-{made['metadata']['name']}"
    return {**made, "status": status} if status else made


def published(node_name: str, *models: str) -> Raw:
    made = resource_slice(node_name, len(models))
    for device, model in zip(made["spec"]["devices"], models, strict=True):
        device["attributes"] = {"model": {"string": model}, "numa": {"int": 0}}
    return made


def asking(name: str, expression: str, count: int = 1, **more: Any) -> Raw:
    made = claim(name, count)
    made["spec"]["devices"]["requests"][0]["exactly"] |= {"selectors": [{"cel": {"expression": expression}}]}
    made["spec"]["devices"] |= more
    return made


def model(name: str) -> str:
    return f'device.attributes["gpu.example.com"].model == "{name}"'


def basics() -> list[Raw]:
    return [node("a"), node("b"), device_class(), published("a", "m1", "m2", "m2"), published("b", "m1")]


def event(about: Raw, message: str, number: int = 0) -> Raw:
    metadata = about["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{number}", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": metadata["name"], "uid": metadata["uid"]},
        "reason": "FailedScheduling",
        "message": message,
        "type": "Warning",
        "reportingComponent": KUBE,
        "lastTimestamp": f"2026-01-01T00:00:0{number}Z",
    }


def test_a_pending_pod_of_kube_scheduler_is_explained_with_what_that_said() -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available: 2 cannot allocate all claims.",
    }
    waiting = named(pod("p", claim="one", schedulerName=KUBE), conditions=[condition])
    other = allocated(claim("other"), "a", "gpu-0-1")
    other["metadata"]["namespace"] = "team"
    team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    served = serve(team, *basics(), asking("one", model("m2"), 2), waiting, other, event(waiting, condition["message"]))
    ran = run_on(served, "explain", "pod/p")
    assert (ran.code, ran.err) == (0, "")
    assert "team/other" in ran.out
    assert served.methods == {"GET"}
    check_golden(Path(__file__), "explain-pending.txt", ran.out)


def test_the_namespace_is_that_of_the_context_unless_it_is_named() -> None:
    team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    there = pod("p")
    there["metadata"]["namespace"] = "team"
    served = serve(team, *basics(), there)
    served.namespace = "team"
    assert run_on(served, "explain", "p").code == 0
    ran = run_on(served, "explain", "p", "-n", "default")
    assert (ran.code, ran.err) == (2, "error: there is no pod p in namespace default, but in team: use -n\n")


def test_a_name_that_cannot_be_meant_is_told() -> None:
    served = serve({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    assert run_on(served, "explain", "pod/").err == "error: name a pod: pod/NAME\n"
    ran = run_on(served, "explain", "p", "-n", "taem")
    assert (ran.code, ran.err) == (2, "error: there is no namespace taem; did you mean team?\n")


def test_a_template_that_is_not_there_is_told_with_the_nearest_one() -> None:
    ran = run_on(serve(*basics(), template("one-gpu"), named(pod("p", template="one-gpuu"))), "explain", "p")
    assert "  ResourceClaimTemplate default/one-gpuu does not exist; did you mean one-gpu?\n" in ran.out


def test_what_has_been_said_above_is_not_said_again() -> None:
    waiting = named(pod("p", claim="one"))
    first = run_on(serve(*basics(), asking("one", model("m9")), waiting), "explain", "pod/p", "-o", "json")
    told = json.loads(first.out)["verdict"]
    note = f"{told['summary'].replace('default/', '')}. {told['reason']}"
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": told["reason"]}
    waiting = named(pod("p", claim="one"), conditions=[condition])
    ran = run_on(serve(*basics(), asking("one", model("m9")), waiting, event(waiting, note)), "explain", "pod/p")
    assert "  condition PodScheduled: Unschedulable: as above\n" in ran.out
    assert "  event FailedScheduling (default-scheduler): as above\n" in ran.out
    assert ran.out.count(told["reason"]) == 1


def test_a_pending_pod_that_fits_is_told_where() -> None:
    served = serve(*basics(), asking("one", model("m1")), named(pod("p", claim="one", schedulerName="nobody")))
    told = json.loads(run_on(served, "explain", "p", "-o", "json").out)
    assert told["verdict"]["fits"]["node"] in ("a", "b")
    assert told["verdict"]["fits"]["devices"][0]["request"] == "gpu"
    assert told["notes"] == ["the scheduler nobody has said nothing about this pod: does it run?"]


def test_gates_and_claims_that_are_not_made_yet_are_told_before_anything_else() -> None:
    gated = named(pod("gated", claim="one", schedulingGates=[{"name": "quota"}]))
    unmade = named(pod("unmade", template="gpu"))
    served = serve(*basics(), claim("one"), template(), gated, unmade)
    assert "waiting for scheduling gates: quota" in run_on(served, "explain", "pod/gated").out
    assert "ResourceClaim not created yet" in run_on(served, "explain", "pod/unmade").out


def placed_cluster() -> list[Raw]:
    first_available = [
        {
            "name": name,
            "deviceClassName": "gpu",
            "allocationMode": "ExactCount",
            "count": count,
            "selectors": [{"cel": {"expression": model(wanted)}}],
        }
        for name, wanted, count in (("best", "m3", 1), ("good", "m2", 3), ("fair", "m2", 1))
    ]
    wants = claim("one")
    wants["spec"]["devices"] = {
        "requests": [
            {"name": "pick", "firstAvailable": first_available},
            {"name": "plain", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}},
        ],
        "constraints": [{"requests": ["pick", "plain"], "matchAttribute": "gpu.example.com/numa"}],
        "config": [{"requests": ["plain"], "opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}],
    }
    held = allocated(wants, "a", "gpu-0-1", pods=("p", "q"))
    devices = held["status"]["allocation"]["devices"]
    devices["results"] = [
        devices["results"][0] | {"request": "pick/fair"},
        {**devices["results"][0], "request": "plain"},
    ]
    devices["results"][1]["device"] = "gpu-0-0"
    devices["config"] = [{"source": "FromClaim", **wants["spec"]["devices"]["config"][0]}]
    user = named(pod("p", claim="one", nodeName="a", schedulerName=KUBE), phase="Running")
    return [*basics(), held, user]


def test_a_placed_pod_is_told_why_its_devices_are_the_ones() -> None:
    ran = run_on(serve(*placed_cluster()), "explain", "pod/p")
    assert (ran.code, ran.err) == (0, "")
    check_golden(Path(__file__), "explain-placed.txt", ran.out)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_machines_get_all_of_it(form: str) -> None:
    ran = run_on(serve(*placed_cluster()), "explain", "pod/p", "-o", form)
    told = json.loads(ran.out) if form == "json" else yaml.safe_load(ran.out)
    (one,) = told["claims"]
    assert [skipped["request"] for skipped in one["skipped"]] == ["pick/best", "pick/good"]
    assert one["devices"][0]["selectors"][-1] == {"of": "request", "expression": model("m2"), "now": "true"}
    assert one["devices"][1]["constraints"] == [{"kind": "match", "attribute": "gpu.example.com/numa", "value": "0"}]


def test_a_device_that_changed_since_or_is_gone_is_told_so() -> None:
    held = allocated(asking("one", model("m1")), "a", "gpu-0-1", pods=("p",))
    user = named(pod("p", claim="one", nodeName="a"), phase="Running")
    assert "does not hold now: false" in run_on(serve(*basics(), held, user), "explain", "p").out
    gone = allocated(asking("one", model("m1")), "a", "gpu-0-9", pods=("p",))
    assert "which is not published any more" in run_on(serve(*basics(), gone, user), "explain", "p").out


def test_a_pod_that_is_not_there_is_looked_for_elsewhere() -> None:
    served = serve(*basics(), named(pod("trainer", claim="one")))
    assert run_on(served, "explain", "trainr").err == (
        "error: there is no pod trainr in namespace default; did you mean trainer?\n"
    )
    wrong = run_on(served, "explain", "trainer", "-n", "x")
    assert (wrong.code, wrong.err) == (2, "error: there is no pod trainer in namespace x, but in default: use -n\n")
    assert run_on(served, "explain", "node/a").code == 2
    ended_ = named(pod("old", claim="one", nodeName="a"), phase="Succeeded")
    assert "the pod has ended: Succeeded" in run_on(serve(*basics(), ended_), "explain", "old").out


def test_manifests_do_in_the_place_of_a_cluster() -> None:
    files = ("-f", str(EXAMPLES / "cats-cluster.yaml"), "-f", str(EXAMPLES / "cats.yaml"))
    ran = run("explain", "pod/pod-with-cats", *files)
    assert ran.code == 0
    assert "it fits on node-" in ran.out
