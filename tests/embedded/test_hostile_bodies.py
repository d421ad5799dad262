"""Whatever JSON comes, the server answers: a wrong type is the client's fault and never an error of the server's."""

from __future__ import annotations

import copy
import random
from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dra_api.transport import JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Request
from dra_embedded.server import EmbeddedServer
from dra_embedded.status import StatusError
from dra_embedded.virtual_time import EPOCH
from support.contract import DRA, Object, allocation, claim, pod, template

QUICK = (Phase.explicit, Phase.generate)  # what failed is small enough as it is
DEFAULT = "namespaces/default"
TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
RICH_POD = pod(
    "one",
    claims=[{"name": "gpu", "resourceClaimName": "one"}],
    affinity={
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}},
    },
    tolerations=[{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
    schedulingGates=[{"name": "example.com/a"}],
    nodeSelector={"a": "b"},
    priorityClassName="system-node-critical",
    activeDeadlineSeconds=5,
    terminationGracePeriodSeconds=7,
)
RICH_POD["spec"]["containers"][0] |= {
    "ports": [{"containerPort": 80}],
    "resources": {"claims": [{"name": "gpu"}], "limits": {"cpu": "2"}, "requests": {"cpu": "1", "example.com/x": "1"}},
}
RICH_POD["status"] = {
    "phase": "Pending",
    "conditions": [{"type": "Ready", "status": "True"}],
    "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "one"}],
    "extendedResourceClaimStatus": {"resourceClaimName": "x"},
}
POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
DEVICE = {"name": "d", "attributes": {"a": {"int": 1}}, "capacity": {"m": {"value": "1Gi"}}, "taints": []}
EVENT = {
    "metadata": {"name": "one"},
    "involvedObject": {"kind": "Pod", "namespace": "default", "name": "x", "uid": "u"},
    "source": {"component": "c"},
    "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00Z"},
    "reason": "R",
    "type": "Normal",
    "message": "m",
}
STRICT_EVENT = {
    "metadata": {"name": "one"},
    "eventTime": "2026-01-01T00:00:00Z",
    "reportingController": "c",
    "reportingInstance": "i",
    "action": "A",
    "reason": "R",
    "type": "Normal",
    "regarding": {"kind": "Pod", "namespace": "default", "name": "x", "uid": "u"},
}
CLAIM = claim("one")
CLAIM["status"] = {"allocation": allocation(), "reservedFor": [{"resource": "pods", "name": "a", "uid": "u"}]}
CLAIM["metadata"] |= {
    "labels": {"a": "b"},
    "annotations": {"a": "b"},
    "finalizers": ["example.com/x"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y", "controller": True}],
}
NODE = {
    "metadata": {"name": "one"},
    "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}], "providerID": "x"},
    "status": {"capacity": {"cpu": "1"}, "conditions": []},
}
RULE = {
    "metadata": {"name": "one"},
    "spec": {"deviceSelector": {"driver": "d.example.com"}, "taint": {"key": "a", "effect": "NoSchedule"}},
}
LEASE = {"metadata": {"name": "one"}, "spec": {"leaseDurationSeconds": 5, "leaseTransitions": 1}}
SLICE = {
    "metadata": {"name": "one"},
    "spec": {"driver": "d.example.com", "nodeName": "n", "pool": POOL, "devices": [DEVICE]},
}

OBJECTS: list[tuple[str, Object]] = [
    (f"/api/v1/{DEFAULT}/pods", RICH_POD),
    (f"{DRA}/{DEFAULT}/resourceclaims", CLAIM),
    (f"/apis/resource.k8s.io/v1beta1/{DEFAULT}/resourceclaims", CLAIM),
    (f"{DRA}/{DEFAULT}/resourceclaimtemplates", template("one")),
    (f"{DRA}/resourceslices", SLICE),
    (f"{DRA}/deviceclasses", {"metadata": {"name": "one"}, "spec": {"selectors": [{"cel": {"expression": "true"}}]}}),
    (f"{DRA}/devicetaintrules", RULE),
    ("/api/v1/nodes", NODE),
    ("/api/v1/namespaces", {"metadata": {"name": "one"}, "spec": {"finalizers": ["x"]}, "status": {"phase": "Active"}}),
    (f"/api/v1/{DEFAULT}/events", EVENT),
    (f"/apis/events.k8s.io/v1/{DEFAULT}/events", STRICT_EVENT),
    (f"/apis/coordination.k8s.io/v1/{DEFAULT}/leases", LEASE),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "one"}, "value": 1}),
    (f"/apis/apps/v1/{DEFAULT}/deployments", {"metadata": {"name": "one"}, "spec": {"replicas": 1}}),
]

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


class FixedClock:
    def monotonic(self) -> float:
        return 0.0

    def now(self) -> Any:
        return EPOCH


def mutate(value: Any, drawn: random.Random, replacement: Any) -> Any:
    """Put `replacement` in the place of some part of a value."""
    parts: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            parts.append((node, key))
            walk(node[key])

    value = copy.deepcopy(value)
    walk(value)
    if parts:
        node, key = drawn.choice(parts)
        node[key] = replacement
    return value


def answer(server: EmbeddedServer, method: str, path: str, body: Any, content_type: str = JSON) -> int:
    """The status of the answer; any exception but a refusal is the server's fault."""
    refused: StatusError | None = None
    try:
        return server.handle(Request(method, path, {}, orjson.dumps(body), content_type)).status
    except StatusError as error:
        refused = error
    orjson.dumps(refused.body())
    expected = refused.code < 500 or not refused.reason or "resourceVersion should not" in refused.message
    assert expected, refused.body()
    return refused.code


@pytest.mark.parametrize(
    ("path", "obj"), OBJECTS, ids=[path.rpartition("/")[2] + str(n) for n, (path, _) in enumerate(OBJECTS)]
)
@settings(max_examples=60, deadline=None, phases=QUICK)
@given(seed=st.integers(0, 2**32), replacement=junk)
def test_a_part_of_the_wrong_type_is_an_answer_and_not_a_crash(
    path: str, obj: Object, seed: int, replacement: Any
) -> None:
    server = EmbeddedServer(FixedClock(), random.Random(1))
    drawn = random.Random(seed)
    made = answer(server, "POST", path, mutate(obj, drawn, replacement))
    if made != 201:
        server = EmbeddedServer(FixedClock(), random.Random(1))
        assert answer(server, "POST", path, obj) in (201, 400, 422)
    broken = mutate(obj, drawn, replacement)
    for where in (f"{path}/one", f"{path}/one/status"):
        for method, content_type in (("PUT", JSON), ("PATCH", MERGE_PATCH), ("PATCH", STRATEGIC_MERGE_PATCH)):
            answer(server, method, where, broken, content_type)
    operation = {"op": drawn.choice(["add", "replace", "remove"]), "path": drawn.choice(PATHS), "value": replacement}
    answer(server, "PATCH", f"{path}/one", [operation], JSON_PATCH)
    answer(server, "DELETE", f"{path}/one", {"preconditions": replacement, "gracePeriodSeconds": replacement})
    answer(server, "DELETE", f"{path}/one", replacement)


PATHS = ("/metadata", "/metadata/labels", "/spec", "/status", "/spec/containers", "/metadata/ownerReferences", "/type")


@given(junk)
@settings(max_examples=100, deadline=None, phases=QUICK)
def test_a_binding_of_any_shape_is_answered(body: Any) -> None:
    server = EmbeddedServer(FixedClock(), random.Random(1))
    assert answer(server, "POST", f"/api/v1/{DEFAULT}/pods", pod("one")) == 201
    path = f"/api/v1/{DEFAULT}/pods/one/binding"
    answer(server, "POST", path, body)
    answer(server, "POST", path, {"metadata": body, "target": {"name": "n"}})
    answer(server, "POST", path, {"metadata": {"name": "one"}, "target": body})
    answer(server, "POST", path, {"metadata": {"name": "one", "uid": body, "labels": body}, "target": {"name": body}})
