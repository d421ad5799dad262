"""What a dump keeps of objects, and what must never be in it."""

from __future__ import annotations

from typing import Any

import orjson

from dra_scheduler.cache.required_features import required_features
from dra_scheduler.dump.anonymize import anonymized, replacements
from dra_scheduler.dump.dump import dump, relevant_events
from dra_scheduler.dump.priorities import priority_classes
from dra_scheduler.dump.reduce import reduced
from dra_scheduler.survey.snapshot import Snapshot
from support.dra_objects import all_objects
from support.fake_clock import START
from support.stage import claim, device_class, node, pod, resource_slice
from support.survey import allocated

Raw = dict[str, Any]
SECRET = "s3cr3t"


def secretive_pod() -> Raw:
    made = pod("p", claim="one")
    made["metadata"] |= {"annotations": {"a": SECRET}, "managedFields": [{"manager": SECRET}], "uid": "uid-p"}
    container = made["spec"]["containers"][0]
    container |= {
        "image": f"registry.example.com/{SECRET}:1",
        "env": [{"name": "PASSWORD", "value": SECRET}],
        "envFrom": [{"secretRef": {"name": SECRET}}],
        "command": [SECRET],
        "args": [f"--token={SECRET}"],
        "lifecycle": {"preStop": {"exec": {"command": [SECRET]}}},
        "volumeMounts": [{"name": "v", "mountPath": f"/{SECRET}"}],
    }
    made["spec"] |= {
        "volumes": [
            {"name": "v", "secret": {"secretName": SECRET}},
            {"name": "w", "persistentVolumeClaim": {"claimName": "data"}},
        ],
        "imagePullSecrets": [{"name": SECRET}],
        "serviceAccountName": SECRET,
        "hostAliases": [{"ip": SECRET}],
        "aFieldOfTomorrow": SECRET,
    }
    made["status"] = {"phase": "Pending", "podIP": SECRET, "message": SECRET}
    return made


def test_no_secret_of_a_pod_is_kept_and_all_that_scheduling_needs_is() -> None:
    kept = reduced(secretive_pod())
    assert SECRET.encode() not in orjson.dumps(kept)
    assert kept["metadata"]["uid"] == "uid-p"
    assert kept["spec"]["resourceClaims"] == [{"name": "shared", "resourceClaimName": "one"}]
    assert kept["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "100m"}
    assert kept["spec"]["volumes"] == [
        {"name": "v", "secret": {}},
        {"name": "w", "persistentVolumeClaim": {"claimName": "data"}},
    ]


def test_what_decides_which_features_a_pod_requires_is_kept() -> None:
    given = secretive_pod()
    container = given["spec"]["containers"][0]
    container["restartPolicyRules"] = [
        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
    ]
    container["volumeMounts"].append(
        {"name": "w", "mountPath": f"/{SECRET}", "subPath": SECRET, "bindMountOptions": ["noexec"]}
    )
    given["spec"] |= {"hostNetwork": True, "hostUsers": False}
    mounts = container["volumeMounts"]
    given["spec"]["ephemeralContainers"] = [{"name": "a", "volumeMounts": mounts}, {"name": "b", "command": [SECRET]}]
    kept = reduced(given)
    assert SECRET.encode() not in orjson.dumps(kept)
    assert [one["name"] for one in kept["spec"]["ephemeralContainers"]] == ["a"]
    assert len(required_features(kept["spec"])) == 3
    (anonymous,) = anonymized([kept], b"key")
    for kind in ("containers", "ephemeralContainers"):
        (found,) = anonymous["spec"][kind]
        assert found["volumeMounts"] == [{"name": "w", "mountPath": "/left-out/1", "bindMountOptions": ["noexec"]}]
    assert required_features(anonymous["spec"]) == required_features(given["spec"])


def test_parameters_for_drivers_are_left_out_wherever_they_are() -> None:
    for obj in all_objects():
        text = orjson.dumps(reduced(obj))
        assert b'"a":1' not in text
        assert reduced(obj)["spec"].keys() == obj["spec"].keys()


def test_addresses_of_nodes_and_data_of_devices_are_left_out() -> None:
    given = node("a")
    given["status"] |= {"addresses": [{"address": SECRET}], "nodeInfo": {"machineID": SECRET}, "images": [SECRET]}
    with_data = claim("one")
    with_data["status"] = {"devices": [{"driver": "d", "pool": "p", "device": "x", "data": SECRET, "conditions": []}]}
    kept = [reduced(given), reduced(with_data)]
    assert SECRET.encode() not in orjson.dumps(kept)
    assert kept[0]["status"]["allocatable"] == given["status"]["allocatable"]
    assert kept[1]["status"]["devices"] == [{"driver": "d", "pool": "p", "device": "x", "conditions": []}]


def test_names_are_replaced_the_same_everywhere_and_keep_their_order() -> None:
    published = resource_slice("node-b", 1)
    published["spec"]["devices"][0]["attributes"] = {"host": {"string": "node-b"}, "model": {"string": "a"}}
    asking = claim("one")
    selector = {"cel": {"expression": 'device.attributes["gpu.example.com"].host == "node-b" && "node-bb" != \'x\''}}
    asking["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [selector]
    asking["status"] = {"conditions": [{"message": "node-b"}]}
    found = anonymized([node("node-a"), node("node-b"), published, asking, pod("node-b", claim="one")], b"key")
    text = orjson.dumps(found).decode()
    assert '"node-b"' not in text
    assert "node-a" not in text
    first, second, slice_, claim_, pod_ = found
    name = second["metadata"]["name"]
    assert first["metadata"]["name"] < name
    assert slice_["spec"]["nodeName"] == slice_["spec"]["pool"]["name"] == name == pod_["metadata"]["name"]
    assert second["metadata"]["labels"]["kubernetes.io/hostname"] == name
    devices = slice_["spec"]["devices"][0]
    assert (devices["name"], devices["attributes"]["model"]) == ("gpu-0-0", {"string": "a"})
    expression = claim_["spec"]["devices"]["requests"][0]["exactly"]["selectors"][0]["cel"]["expression"]
    assert expression == f'device.attributes["gpu.example.com"].host == "{name}" && "node-bb" != \'x\''
    assert claim_["metadata"]["namespace"] == "default"
    assert claim_["metadata"]["name"] == pod_["spec"]["resourceClaims"][0]["resourceClaimName"] != "one"


def test_a_request_that_is_called_like_a_claim_keeps_its_name() -> None:
    held = allocated(claim("gpu"), "gpu", "gpu", pods=("gpu",))
    user = pod("gpu", claim="gpu", nodeName="gpu")
    user["spec"]["resourceClaims"][0]["name"] = "gpu"
    found, pod_, class_ = anonymized([held, user, device_class("gpu")], b"key")
    assert class_["metadata"]["name"] == "gpu"
    (result,) = found["status"]["allocation"]["devices"]["results"]
    name = found["metadata"]["name"]
    assert name != "gpu"
    assert (result["request"], result["device"], result["pool"]) == ("gpu", "gpu", name)
    assert found["spec"]["devices"]["requests"][0]["name"] == "gpu"
    assert found["status"]["reservedFor"][0]["name"] == name
    assert pod_["spec"]["nodeName"] == name
    assert pod_["spec"]["resourceClaims"] == [{"name": "gpu", "resourceClaimName": name}]
    assert pod_["spec"]["containers"][0]["name"] == "main"


def test_two_dumps_have_different_names() -> None:
    assert replacements(["a"], b"1") != replacements(["a"], b"2")
    assert replacements(["a", "b"], b"1") == replacements(["b", "a", "b"], b"1")


def test_priorities_are_kept_by_classes_of_the_dump() -> None:
    pods = [
        {"spec": {"priority": priority, "preemptionPolicy": policy}}
        for priority, policy in ((0, "PreemptLowerPriority"), (5, "Never"), (-3, "PreemptLowerPriority"), (5, "Never"))
    ]
    classes = priority_classes(pods)
    assert [(c["metadata"]["name"], c["value"], c["preemptionPolicy"]) for c in classes] == [
        ("priority-minus-3-preemptlowerpriority", -3, "PreemptLowerPriority"),
        ("priority-5-never", 5, "Never"),
    ]
    assert "priorityClassName" not in pods[0]["spec"]
    assert pods[3]["spec"]["priorityClassName"] == "priority-5-never"


def test_only_events_about_scheduling_and_claims_are_kept_newest_last() -> None:
    events = [
        {"involvedObject": {"kind": kind}, "reason": reason, "lastTimestamp": time}
        for kind, reason, time in (
            ("Pod", "FailedScheduling", "2026-01-01T00:00:02Z"),
            ("Pod", "Pulled", "2026-01-01T00:00:01Z"),
            ("ResourceClaim", "Any", "2026-01-01T00:00:01Z"),
            ("Node", "NodeReady", "2026-01-01T00:00:01Z"),
        )
    ]
    assert [e["reason"] for e in relevant_events(events)] == ["Any", "FailedScheduling"]


def test_a_dump_has_its_record_on_a_namespace() -> None:
    first, second = dump(Snapshot("x", START, {"Node": [node("a")]}, server="v1.37.2"))
    assert first["metadata"]["annotations"]["dump.dra-scheduler/server"] == "v1.37.2"
    assert second["kind"] == "Node"
