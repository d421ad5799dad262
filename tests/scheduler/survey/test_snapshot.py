from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest

from dra_api.manifests import read_text
from dra_api.references import DEVICE_TAINT_RULE, NODE, POD, RESOURCE_CLAIM, RESOURCE_SLICE
from dra_api.transport import Request
from dra_scheduler.survey.api_server import take
from dra_scheduler.survey.files import from_documents
from dra_scheduler.survey.gates import parse_gates
from dra_scheduler.survey.known import gates_of, known
from dra_scheduler.survey.read_only import ReadOnlyTransport, WriteRefusedError
from dra_scheduler.survey.record import read_record, with_record
from dra_scheduler.survey.snapshot import Gap, Snapshot
from dra_scheduler.survey.times import parse_time, touched
from support.fake_clock import START, FakeClock
from support.stage import claim, device_class, node, pod, resource_slice, template
from support.survey import serve

CLUSTER = (node("b"), node("a"), device_class(), resource_slice("a", 2), claim("one"), pod("p", claim="one"))


def test_all_kinds_are_read_and_sorted_and_nothing_else_is_asked() -> None:
    served = serve(*CLUSTER)
    snapshot = asyncio.run(take(served, FakeClock()))
    assert [n["metadata"]["name"] for n in snapshot.of(NODE)] == ["a", "b"]
    assert snapshot.of(RESOURCE_SLICE)[0]["apiVersion"] == "resource.k8s.io/v1"
    assert (snapshot.live, snapshot.version, snapshot.gaps, snapshot.skipped) == (True, "v1", [], [])
    assert served.methods == {"GET"}


def test_a_kind_that_may_not_be_read_is_a_gap_and_the_others_are_read() -> None:
    served = serve(*CLUSTER, forbidden=("/api/v1/pods",))
    snapshot = asyncio.run(take(served, FakeClock()))
    assert not snapshot.has(POD)
    assert snapshot.has(DEVICE_TAINT_RULE)
    (gap,) = snapshot.gaps
    assert (gap.kind, gap.reason) == ("Pod", "forbidden")
    assert "verbs [get, list, watch]" in str(gap)


def test_the_tables_have_what_the_snapshot_has() -> None:
    snapshot = asyncio.run(take(serve(*CLUSTER), FakeClock()))
    cluster, problems = known(snapshot)
    assert problems == []
    assert (len(cluster.nodes), len(cluster.pods), len(cluster.claims)) == (2, 1, 1)
    assert len(list(cluster.devices.devices())) == 2


def test_files_get_the_claims_that_their_templates_stand_for() -> None:
    text = "\n".join(json.dumps(o) for o in (template(), pod("p", template="gpu"), resource_slice("a", 1)))
    documents = read_text(text.encode(), "f.yaml").documents
    snapshot = from_documents(documents, "f.yaml")
    (made,) = snapshot.of(RESOURCE_CLAIM)
    (asking,) = snapshot.of(POD)
    assert made["metadata"]["ownerReferences"][0]["uid"] == asking["metadata"]["uid"]
    assert asking["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": "p-gpu"}]
    cluster, problems = known(snapshot)
    assert problems == []
    assert len(cluster.claims) == 1


def test_nothing_is_written_through_a_read_only_transport() -> None:
    served = serve()
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        with pytest.raises(WriteRefusedError, match=method):
            asyncio.run(ReadOnlyTransport(served).send(Request(method, "/api/v1/namespaces/default/pods")))
        with pytest.raises(WriteRefusedError):
            ReadOnlyTransport(served).watch(Request(method, "/api/v1/pods"))
    assert served.methods == set()


def test_gates_are_read_from_the_metrics() -> None:
    text = b"""# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="DRAAdminAccess",stage="BETA"} 1
kubernetes_feature_enabled{name="DRAListTypeAttributes",stage="ALPHA"} 0
other{name="x"} 1
"""
    gates = parse_gates(text)
    assert gates == {"DRAAdminAccess": True, "DRAListTypeAttributes": False}
    features = gates_of(Snapshot("x", START, gates=gates)).features()
    assert features.admin_access
    assert not features.device_taints


def test_a_record_tells_of_the_snapshot_that_it_was_made_of() -> None:
    gap = Gap("Pod", "forbidden", "no, never")
    snapshot = Snapshot("x", START, gaps=[gap], server="v1.36.1", version="v1", gates={"A": True, "B": False})
    record = read_record(with_record([{"kind": "Pod"}], snapshot))
    assert record is not None
    assert (record.taken, record.server, record.minor, record.version) == (START, "v1.36.1", 36, "v1")
    assert (record.gates, record.gaps) == ({"A": True, "B": False}, (gap,))
    assert read_record([{"kind": "Namespace", "metadata": {"name": "other"}}]) is None


def test_times_are_read_leniently() -> None:
    assert parse_time("2026-01-01T00:00:01Z") == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert parse_time("2026-01-01T00:00:01") == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert (parse_time("yesterday"), parse_time(None), touched({})) == (None, None, None)
    fields = [{"time": "2026-01-01T00:00:05Z"}, {}]
    metadata = {"creationTimestamp": "2026-01-01T00:00:01Z", "managedFields": fields}
    assert touched({"metadata": metadata}) == datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC)
