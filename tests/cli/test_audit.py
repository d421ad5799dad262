"""`dra-scheduler audit`: output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from support.cli import run
from support.golden import check_golden
from support.stage import claim, device_class, node, resource_slice
from support.survey import Served, allocated, run_on, serve

EXAMPLES = Path(__file__).resolve().parents[2] / "manifests" / "examples"


def faulty(**options: tuple[str, ...]) -> Served:
    claims = [allocated(claim(name), "a", "gpu-0-0", pods=("gone",)) for name in ("one", "two")]
    return serve(node("a"), device_class(), resource_slice("a", 1), *claims, **options)


def test_findings_are_told_with_what_to_do() -> None:
    ran = run_on(faulty(), "audit", "--settle", "0.001")
    assert ran.code == 1
    check_golden(Path(__file__), "audit.txt", ran.out)


def test_machines_get_names_objects_and_counts() -> None:
    ran = run_on(faulty(), "audit", "--settle", "0", "-o", "json")
    report = json.loads(ran.out)
    assert report["counts"] == {"device-held-twice": 1, "reserved-for-gone-pod": 2}
    assert report["findings"][0]["object"] == "device gpu.example.com/a/gpu-0-0"
    assert report["notChecked"] == []


def test_a_clean_cluster_ends_with_zero() -> None:
    ran = run_on(serve(node("a"), resource_slice("a", 1)), "audit")
    assert (ran.code, ran.out) == (0, "nothing found\n")
    assert run("audit", "-f", str(EXAMPLES)).code == 2  # the two spellings define the same objects
    assert run("audit", "-f", str(EXAMPLES / "cats.yaml"), "-f", str(EXAMPLES / "cats-cluster.yaml")).code == 0


def test_what_cannot_be_read_is_neither_clean_nor_a_finding() -> None:
    served = serve(node("a"), forbidden=("/api/v1/pods",))
    ran = run_on(served, "audit")
    assert ran.code == 2
    assert "pods may not be listed" in ran.err
    assert served.methods == {"GET"}
