"""`dra-scheduler dump`: one file that is the cluster again for `simulate`, `devices` and `audit`."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dra_scheduler.cli.dump import as_json
from dra_scheduler.dump.dump import dump
from dra_scheduler.scheduler import Scheduler
from dra_scheduler.settings import Settings
from dra_scheduler.survey.api_server import take
from support.cli import run
from support.fake_clock import FakeClock
from support.stage import Stage, claim, device_class, node, on_stage, pod, resource_slice, template
from support.survey import Served, allocated, run_on, serve

Raw = dict[str, Any]
Decided = tuple[str, list[str]]
"""A pod's node and its devices."""
MODEL = 'device.attributes["gpu.example.com"].model == "m-%d"'


def big_cluster(nodes: int) -> list[Raw]:
    """Nodes with a device each of a model of its own for every second one; pods that fit on one node, or none."""
    made: list[Raw] = [device_class(), template()]
    for number in range(nodes):
        name = f"node-{number:03}"
        published = resource_slice(name, 2)
        model = {"model": {"string": f"m-{number}"}}
        published["spec"]["devices"] = [{"name": f"gpu-{i}", "attributes": model} for i in range(2)]
        made += [node(name), published]
    for number in range(0, nodes, 10):
        asking = claim(f"claim-{number}", 2)
        selector = {"cel": {"expression": MODEL % number}}
        asking["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [selector]
        made += [asking, pod(f"pod-{number}", claim=f"claim-{number}")]
    for number in range(5, nodes, 10):
        bound = pod(f"bound-{number}", claim=f"held-{number}", nodeName=f"node-{number:03}")
        bound["metadata"]["uid"] = f"uid-bound-{number}"
        bound["status"] = {"phase": "Running"}
        held = allocated(claim(f"held-{number}"), f"node-{number:03}", "gpu-0", pods=(f"bound-{number}",))
        made += [bound, held]
    impossible = claim("impossible", 3)
    rest = [pod(f"any-{number}", template="gpu") for number in range(20)]
    return [*made, impossible, pod("hopeless", claim="impossible"), *rest]


def decisions(listed: str) -> dict[str, Decided]:
    """Node and devices of each pod, by name."""
    items = json.loads(listed)["items"]
    devices: dict[str, list[str]] = {}
    for item in items:
        if item["kind"] == "ResourceClaim":
            results = (item["status"].get("allocation") or {"devices": {"results": []}})["devices"]["results"]
            owner = (item["metadata"].get("ownerReferences") or [{"name": item["metadata"]["name"]}])[0]["name"]
            devices[owner] = sorted(f"{r['pool']}/{r['device']}" for r in results)
    return {
        i["metadata"]["name"]: (
            i["spec"].get("nodeName", ""),
            devices.get((i["spec"]["resourceClaims"][0].get("resourceClaimName") or i["metadata"]["name"]), []),
        )
        for i in items
        if i["kind"] == "Pod"
    }


def test_a_dump_of_500_nodes_replays_to_the_decisions_of_the_cluster(tmp_path: Path) -> None:
    """The scheduler runs on the cluster after the dump was made; simulate has the dump only."""
    objects = big_cluster(500)
    file = tmp_path / "dump.json"

    async def play(stage: Stage) -> dict[str, Decided]:
        for obj in objects:
            stage.cluster.server.restore(obj)
        await stage.cluster.settle()
        file.write_bytes(as_json(dump(await take(Served(stage.cluster.server), FakeClock()))))
        stop = asyncio.Event()
        scheduler = Scheduler(stage.transport, Settings(), stage.clock, Random(0))
        running = asyncio.create_task(scheduler.run(stop))
        await stage.cluster.settle(scheduler.at_rest, quiet=30)
        pods, claims = await stage.pods(), await stage.claims()
        stop.set()
        await running
        items = [{"kind": "Pod", **p} for p in pods.values()] + [
            {"kind": "ResourceClaim", **c} for c in claims.values()
        ]
        return decisions(json.dumps({"items": items}))

    happened = on_stage(play, start=False)
    ran = run("simulate", "-f", str(file), "-o", "json", "--seed", "0")
    assert ran.code == 1, ran.err
    assert happened["hopeless"] == ("", [])
    assert happened["bound-5"] == ("node-005", ["node-005/gpu-0"])
    assert sum(bool(node) for node, _ in happened.values()) >= 110
    assert decisions(ran.out) == happened


def test_a_dump_under_other_names_replays_to_the_same_decisions(tmp_path: Path) -> None:
    served = serve(*big_cluster(60))
    plain, other = tmp_path / "plain.json", tmp_path / "other.json"
    assert run_on(served, "dump", "-o", str(plain)).code == 0
    assert run_on(served, "dump", "--anonymize", "-o", str(other)).code == 0
    assert "node-0" not in other.read_text()
    first = run("simulate", "-f", str(plain), "-o", "json")
    second = run("simulate", "-f", str(other), "-o", "json")
    assert first.err == second.err

    def shape(text: str) -> list[tuple[bool, list[str]]]:
        return [(bool(n), [d.rpartition("/")[2] for d in found]) for _, (n, found) in sorted(decisions(text).items())]

    assert shape(first.out) == shape(second.out)


def test_the_file_is_for_its_owner_only_and_read_by_the_other_commands(tmp_path: Path) -> None:
    file = tmp_path / "dump.yaml"
    held = allocated(claim("one"), "a", "gpu-0-0", pods=("gone",))
    served = serve(node("a"), device_class(), resource_slice("a", 2), held)
    ran = run_on(served, "dump", "-o", str(file))
    assert (ran.code, ran.out) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "default/one (pod gone)" in run("devices", "-f", str(file)).out
    audit = run("audit", "-f", str(file))
    assert (audit.code, audit.err) == (1, "")
    assert "reserved-for-gone-pod" in audit.out
    assert served.methods == {"GET"}


def test_what_may_not_be_read_is_missing_in_the_dump_and_said_again_by_who_reads_it() -> None:
    served = serve(node("a"), forbidden=("/api/v1/pods",))
    ran = run_on(served, "dump")
    assert ran.code == 0
    assert "pods may not be listed" in ran.err
    audit = run("audit", "-f", "-", stdin=ran.out.encode())
    assert audit.code == 2
    assert "pods may not be listed" in audit.err


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    ran = run_on(serve(), "dump", "-o", str(tmp_path / "none" / "x.json"))
    assert ran.code == 2
    assert "No such file or directory" in ran.err


@pytest.mark.parametrize("words", [("dump", "--help"), ("audit", "--help"), ("devices", "--help")], ids=" ".join)
def test_every_help_has_an_example(words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.code == 0
    assert "example:" in ran.out


def test_where_nothing_may_be_read_nothing_is_written(tmp_path: Path) -> None:
    kinds = ("nodes", "namespaces", "pods", "events")
    ours = ("deviceclasses", "resourceslices", "devicetaintrules", "resourceclaims", "resourceclaimtemplates")
    groups = [f"/apis/scheduling.k8s.io/{version}/podgroups" for version in ("v1alpha1", "v1alpha2", "v1beta1")]
    paths = (*(f"/api/v1/{kind}" for kind in kinds), *(f"/apis/resource.k8s.io/v1/{kind}" for kind in ours), *groups)
    ran = run_on(serve(forbidden=paths), "dump", "-o", str(tmp_path / "dump.json"))
    assert ran.code == 2
    assert ran.err.endswith("error: nothing could be read, so there is nothing to write\n")
    assert "note: manifests/rbac-readonly.yaml has all of these rules" in ran.err
    assert not (tmp_path / "dump.json").exists()
