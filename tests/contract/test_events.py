from __future__ import annotations

from support.contract import Object, Server, contract, pod

V1 = "/apis/events.k8s.io/v1"


def event(server: Server, name: str, pod_object: Object) -> Object:
    regarding = {"kind": "Pod", "apiVersion": "v1", "name": pod_object["metadata"]["name"]}
    regarding |= {"namespace": server.namespace, "uid": pod_object["metadata"]["uid"]}
    return {
        "metadata": {"name": name},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "dra-scheduler",
        "reportingInstance": "dra-scheduler-0",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "type": "Warning",
        "regarding": regarding,
        "note": "0/1 nodes are available",
    }


@contract
async def test_an_event_of_one_api_is_read_by_the_other(server: Server) -> None:
    made = await server.create(server.pods, pod())
    path = f"{V1}/namespaces/{server.namespace}/events"
    created = await server.create(path, event(server, "one", made))
    assert created["note"] == "0/1 nodes are available"
    core = await server.get(f"/api/v1/namespaces/{server.namespace}/events/one")
    assert (core["kind"], core["apiVersion"]) == ("Event", "v1")
    assert core["message"] == "0/1 nodes are available"
    assert core["involvedObject"]["uid"] == made["metadata"]["uid"]
    assert core["reportingComponent"] == "dra-scheduler"
    assert core["metadata"]["uid"] == created["metadata"]["uid"]
    assert core.keys().isdisjoint({"note", "regarding", "reportingController"})


@contract
async def test_events_are_found_by_what_they_are_about(server: Server) -> None:
    made = await server.create(server.pods, pod())
    await server.create(f"{V1}/namespaces/{server.namespace}/events", event(server, "one", made))
    core = f"/api/v1/namespaces/{server.namespace}/events"
    uid = made["metadata"]["uid"]
    for path, selector, count in [
        (core, f"involvedObject.uid={uid},involvedObject.kind=Pod", 1),
        (core, "involvedObject.name=other", 0),
        (core, "reason=FailedScheduling,type=Warning", 1),
        (core, "reportingComponent=dra-scheduler", 1),
        (f"{V1}/namespaces/{server.namespace}/events", f"regarding.uid={uid}", 1),
    ]:
        assert len((await server.get(path, fieldSelector=selector))["items"]) == count, selector


@contract
async def test_an_event_needs_who_when_and_what(server: Server) -> None:
    made = await server.create(server.pods, pod())
    bare = event(server, "one", made)
    for field in ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type"):
        del bare[field]
    answer = await server.call("POST", f"{V1}/namespaces/{server.namespace}/events", bare)
    answer.refused(422, "Invalid", ("FieldValueRequired", "eventTime"), ("FieldValueInvalid", "type"))
    bare["eventTime"] = "2026-01-01T00:00:00.000000Z"
    answer = await server.call("POST", f"{V1}/namespaces/{server.namespace}/events", bare)
    answer.refused(
        422,
        "Invalid",
        ("FieldValueRequired", "reportingController"),
        ("FieldValueInvalid", "reportingController"),
        ("FieldValueInvalid", "reportingController"),
        ("FieldValueRequired", "reportingInstance"),
        ("FieldValueRequired", "action"),
        ("FieldValueRequired", "reason"),
        ("FieldValueInvalid", "type"),
    )


@contract
async def test_an_event_belongs_to_the_namespace_of_its_object(server: Server) -> None:
    made = await server.create(server.pods, pod())
    old = event(server, "one", made)
    core = {
        "metadata": {"name": "one"},
        "involvedObject": {**old["regarding"], "namespace": "elsewhere"},
        "reason": "X",
        "message": "y",
        "type": "Normal",
    }
    answer = await server.call("POST", f"/api/v1/namespaces/{server.namespace}/events", core)
    answer.refused(422, "Invalid", ("FieldValueInvalid", "involvedObject.namespace"))


@contract
async def test_a_series_grows_by_patches(server: Server) -> None:
    made = await server.create(server.pods, pod())
    path = f"{V1}/namespaces/{server.namespace}/events"
    await server.create(path, event(server, "one", made))
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}}
    patched = await server.merge(f"{path}/one", series)
    assert patched["series"] == series["series"]
    note = {"note": "something else"}
    answer = await server.call("PATCH", f"{path}/one", note, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueInvalid", "message"))
    once = {"series": {"count": 1}}
    answer = await server.call("PATCH", f"{path}/one", once, content_type="application/merge-patch+json")
    answer.refused(422, "Invalid", ("FieldValueInvalid", "series.count"))
