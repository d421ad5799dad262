"""`dra-scheduler simulate` and `demo`: what people and machines read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from support.cli import run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "manifests" / "examples"
GOLDEN = Path(__file__).parent / "golden"
CLUSTER = str(EXAMPLES / "cats-cluster.yaml")
CATS = str(EXAMPLES / "cats.yaml")


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; DRA_UPDATE_GOLDEN=1 writes it."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    path = GOLDEN / name
    if os.environ.get("DRA_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_the_demo_shows_devices_pods_and_claims() -> None:
    ran = run("demo")
    assert ran.code == 0
    check_golden("demo.txt", ran.out)


def test_the_example_is_placed_as_a_table() -> None:
    ran = run("simulate", "-f", CLUSTER, "-f", CATS)
    assert (ran.code, ran.err) == (0, "")
    check_golden("simulate.txt", ran.out)


def test_the_old_spelling_gives_the_same_with_warnings() -> None:
    ran = run("simulate", "-f", CLUSTER, "-f", str(EXAMPLES / "cats-old-spelling.yaml"))
    assert ran.code == 0
    check_golden("simulate-old-spelling.err.txt", ran.err.replace(f"{EXAMPLES}/", ""))
    assert ran.out.count("allocated,reserved") == 2


def test_a_pod_that_does_not_fit_is_shown_with_its_reason(tmp_path: Path) -> None:
    one = "- name: cat\n        exactly:"
    many = Path(CATS).read_text().replace(one, one + "\n          count: 9")
    (tmp_path / "many.yaml").write_text(many)
    ran = run("simulate", "-f", CLUSTER, "-f", str(tmp_path / "many.yaml"))
    assert ran.code == 1
    check_golden("simulate-pending.txt", ran.out)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_machines_get_a_v1_list_of_pods_and_claims(form: str) -> None:
    ran = run("simulate", "-f", CLUSTER, "-f", CATS, "-o", form)
    listed = json.loads(ran.out) if form == "json" else yaml.safe_load(ran.out)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    assert [item["kind"] for item in listed["items"]] == ["Pod", "ResourceClaim", "ResourceClaim"]
    pod, *claims = listed["items"]
    for claim in claims:
        assert claim["apiVersion"] == "resource.k8s.io/v1"
        assert claim["status"]["reservedFor"] == [
            {"resource": "pods", "name": "pod-with-cats", "uid": pod["metadata"]["uid"]}
        ]
        (result,) = claim["status"]["allocation"]["devices"]["results"]
        assert result["pool"] == pod["spec"]["nodeName"]


def test_the_output_can_be_simulated_again_and_nothing_moves() -> None:
    first = run("simulate", "-f", CLUSTER, "-f", CATS, "-o", "json")
    second = run("simulate", "-f", CLUSTER, "-f", "-", "-o", "json", stdin=first.out.encode())
    assert second.code == 0

    def placed(text: str) -> list[object]:
        items = json.loads(text)["items"]
        return [(i["metadata"]["uid"], i["spec"].get("nodeName"), i["status"].get("allocation")) for i in items]

    assert placed(second.out) == placed(first.out)


def test_the_same_seed_gives_the_same_result() -> None:
    runs = [run("simulate", "-f", CLUSTER, "-f", CATS, "-o", "json", "--seed", "7").out for _ in range(2)]
    assert runs[0] == runs[1]


def test_nodes_are_assumed_where_only_slices_name_them(tmp_path: Path) -> None:
    documents = [d for d in yaml.safe_load_all(Path(CLUSTER).read_text()) if d["kind"] != "Node"]
    (tmp_path / "slices.yaml").write_text(yaml.safe_dump_all(documents))
    ran = run("simulate", "-f", str(tmp_path / "slices.yaml"), "-f", CATS)
    assert ran.code == 0
    assert ran.err == "note: no Node in the files: assumed the 4 that ResourceSlices name\n"
    picky = [d for d in yaml.safe_load_all(Path(CATS).read_text()) if d is not None]
    for document in picky:
        if document["kind"] == "Pod":
            document["spec"] |= {"hostNetwork": True, "hostUsers": False}
    (tmp_path / "picky.yaml").write_text(yaml.safe_dump_all(picky))
    assert run("simulate", "-f", str(tmp_path / "slices.yaml"), "-f", str(tmp_path / "picky.yaml")).code == 0
    assert run("simulate", "-f", CLUSTER, "-f", str(tmp_path / "picky.yaml")).code != 0


@pytest.mark.parametrize(
    "words", [("--help",), ("run", "--help"), ("simulate", "--help"), ("demo", "--help")], ids=" ".join
)
def test_every_help_has_an_example(words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.code == 0
    assert "example:" in ran.out


def test_no_command_prints_the_help() -> None:
    assert "commands:" in run().out
