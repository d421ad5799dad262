"""What `kubectl get` shows: the cells of each kind, by objects in the states that users meet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from dra_embedded.http.columns.column import duration, since
from dra_embedded.http.tables import as_table, event_as_table, is_wanted

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MADE = "2025-12-31T23:55:00Z"


def table(kind: str, obj: dict[str, Any], version: str = "v1", include: str = "None") -> dict[str, Any]:
    metadata = {"name": "it", "creationTimestamp": MADE, **obj.get("metadata", {})}
    body = {"kind": kind, "apiVersion": version, **obj, "metadata": metadata}
    made: dict[str, Any] = orjson.loads(as_table(orjson.dumps(body), include, NOW))
    return made


def cells(kind: str, obj: dict[str, Any], *, wide: bool = False) -> list[Any]:
    made = table(kind, obj)
    shown = [wide or not column["priority"] for column in made["columnDefinitions"]]
    return [cell for cell, is_shown in zip(made["rows"][0]["cells"], shown, strict=True) if is_shown]


def running(name: str = "main", **more: Any) -> dict[str, Any]:
    return {"name": name, "ready": True, "restartCount": 0, "state": {"running": {}}, **more}


def pod(phase: str, statuses: list[Any], **more: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "main"}], **more.pop("spec", {})}
    return {"spec": spec, "status": {"phase": phase, "containerStatuses": statuses, **more.pop("status", {})}, **more}


ENDED = {"name": "main", "restartCount": 2, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
FAILED = {"name": "main", "state": {"terminated": {"exitCode": 3}}}
KILLED = {"name": "main", "state": {"terminated": {"exitCode": 137, "signal": 9}}}
CRASHING = {"name": "main", "restartCount": 5, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
GATED = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}
INIT = {"initContainers": [{"name": "first"}, {"name": "side", "restartPolicy": "Always"}]}


@pytest.mark.parametrize(
    ("obj", "ready", "status", "restarts"),
    [
        (pod("Pending", []), "0/1", "Pending", "0"),
        (pod("Pending", [], status=GATED), "0/1", "SchedulingGated", "0"),
        (pod("Running", [running()]), "1/1", "Running", "0"),
        (pod("Succeeded", [ENDED]), "0/1", "Completed", "2"),
        (pod("Failed", [FAILED]), "0/1", "ExitCode:3", "0"),
        (pod("Failed", [KILLED]), "0/1", "Signal:9", "0"),
        (pod("Failed", [], status={"reason": "Evicted"}), "0/1", "Evicted", "0"),
        (pod("Running", [CRASHING]), "0/1", "CrashLoopBackOff", "5"),
        (pod("Running", [running()], metadata={"deletionTimestamp": MADE}), "1/1", "Terminating", "0"),
        (pod("Succeeded", [ENDED], metadata={"deletionTimestamp": MADE}), "0/1", "Completed", "2"),
        (
            pod(
                "Running",
                [running()],
                metadata={"deletionTimestamp": MADE},
                status={"reason": "NodeLost"},
            ),
            "1/1",
            "Unknown",
            "0",
        ),
        (
            pod("Pending", [], spec=INIT, status={"initContainerStatuses": [running("first")]}),
            "0/2",
            "Init:0/2",
            "0",
        ),
        (
            pod(
                "Running",
                [running()],
                spec=INIT,
                status={"initContainerStatuses": [{**ENDED, "name": "first"}, running("side", started=True)]},
            ),
            "2/2",
            "Running",
            "0",
        ),
    ],
)
def test_pods(obj: dict[str, Any], ready: str, status: str, restarts: str) -> None:
    assert cells("Pod", obj) == ["it", ready, status, restarts, "5m"]


def test_wide_pods_have_their_place() -> None:
    obj = pod("Running", [running()], spec={"nodeName": "n", "readinessGates": [{"conditionType": "a"}]})
    assert cells("Pod", obj, wide=True)[5:] == ["<none>", "n", "<none>", "0/1"]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({}, "pending"),
        ({"allocation": {"devices": {}}}, "allocated"),
        ({"allocation": {"devices": {}}, "reservedFor": [{"name": "p"}]}, "allocated,reserved"),
    ],
)
def test_claims(status: dict[str, Any], state: str) -> None:
    assert cells("ResourceClaim", {"status": status}) == ["it", state, "5m"]
    deleted = {"status": status, "metadata": {"deletionTimestamp": MADE}}
    expected = "deleted" if state == "pending" else f"deleted,{state}"
    assert cells("ResourceClaim", deleted)[1] == expected


def test_nodes() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1"}}
    assert cells("Node", {"status": ready}) == ["it", "Ready", "<none>", "5m", "v1"]
    obj = {"spec": {"unschedulable": True}, "metadata": {"labels": {"node-role.kubernetes.io/worker": ""}}}
    assert cells("Node", obj) == ["it", "Unknown,SchedulingDisabled", "worker", "5m", ""]


def test_slices_and_kinds_without_columns_of_their_own() -> None:
    obj = {"spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p"}}}
    assert cells("ResourceSlice", obj) == ["it", "n", "d", "p", "5m"]
    assert cells("DeviceClass", {}) == ["it", "5m"]


def test_events() -> None:
    obj = {
        "type": "Warning",
        "reason": "FailedScheduling",
        "message": " no devices \n",
        "involvedObject": {"kind": "Pod", "name": "p"},
        "lastTimestamp": "2025-12-31T23:59:57Z",
        "count": 4,
    }
    assert cells("Event", obj) == ["3s", "Warning", "FailedScheduling", "pod/p", "no devices"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (600, "10m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (47 * 3600, "47h"),
        (50 * 3600, "2d2h"),
        (9 * 86400, "9d"),
        (800 * 86400, "2y70d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_time_spans_are_written_as_kubectl_does(seconds: int, text: str) -> None:
    assert duration(seconds) == text
    assert since((NOW - timedelta(seconds=seconds)).isoformat(), NOW) == text


@pytest.mark.parametrize("text", [None, "", "yesterday"])
def test_times_that_are_none_are_unknown(text: str | None) -> None:
    assert since(text, NOW) == "<unknown>"


def test_rows_come_with_what_was_asked_for() -> None:
    assert table("Pod", {"spec": {}}, include="None")["rows"][0]["object"] is None
    assert table("Pod", {"spec": {}}, include="Metadata")["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = table("Pod", {"spec": {"a": 1}}, include="Object")["rows"][0]["object"]
    assert (whole["kind"], whole["apiVersion"], whole["spec"]) == ("Pod", "v1", {"a": 1})


def test_a_list_becomes_one_table() -> None:
    items = [{"metadata": {"name": name}} for name in ("a", "b")]
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": items}
    made = orjson.loads(as_table(orjson.dumps(body), "Metadata", NOW))
    assert [row["cells"][0] for row in made["rows"]] == ["a", "b"]
    assert made["metadata"] == {"resourceVersion": "7"}


def test_a_status_stays_as_it_is() -> None:
    body = b'{"kind":"Status","code":404}'
    assert as_table(body, "Metadata", NOW) == body


def test_bookmarks_have_no_row_and_errors_stay() -> None:
    bookmark = {"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}}
    made = orjson.loads(event_as_table(orjson.dumps(bookmark), "Metadata", NOW))["object"]
    assert (made["rows"], made["metadata"]) == ([], {"resourceVersion": "9"})
    error = b'{"type":"ERROR","object":{"code":410}}\n'
    assert event_as_table(error, "Metadata", NOW) == error


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", True),
        ("application/json; as=Table; v=v1; g=meta.k8s.io", True),
        ("application/json,application/json;as=Table;v=v1;g=meta.k8s.io", False),
        ("application/json", False),
        ("", False),
    ],
)
def test_a_table_is_what_is_asked_for_first(accept: str, wanted: bool) -> None:
    assert is_wanted(accept) is wanted
