"""`dra-scheduler devices`: on files and on a cluster, under read-only rights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from dra_api.transport import MERGE_PATCH, Request
from dra_scheduler.cli import devices
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import discover
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.inventory.changes import changes, followed
from dra_scheduler.inventory.devices import Listed, list_devices
from support.cli import run
from support.fake_clock import FakeClock
from support.golden import check_golden
from support.stage import Stage, claim, device_class, node, on_stage, pod, resource_slice, template
from support.survey import allocated, run_on, serve

EXAMPLES = Path(__file__).resolve().parents[2] / "manifests" / "examples"
CATS = str(EXAMPLES / "cats-cluster.yaml")
Raw = dict[str, Any]


def shareable(name: str, memory: str) -> Raw:
    capacity = {"memory": {"value": memory}}
    return {
        "name": name,
        "allowMultipleAllocations": True,
        "capacity": capacity,
        "attributes": {"model": {"string": "a"}},
    }


def cluster() -> list[Raw]:
    """A node with a held, a shared, a tainted and a free device, and a pool that is not complete."""
    published = resource_slice("a", 2)
    tainted = {"name": "hot", "taints": [{"key": "heat", "value": "high", "effect": "NoSchedule"}]}
    published["spec"]["devices"] += [shareable("big", "40Gi"), tainted]
    rule = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "repair"},
        "spec": {
            "deviceSelector": {"driver": "gpu.example.com", "pool": "a", "device": "gpu-0-1"},
            "taint": {"key": "repair", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
        },
    }
    incomplete = resource_slice("b", 1, slices=2)
    user = pod("user", claim="one")
    user["metadata"]["uid"] = "uid-user"
    return [
        *(node("a"), node("b"), device_class(), published, incomplete, rule, user),
        allocated(claim("one"), "a", "gpu-0-0", pods=("user",)),
        allocated(claim("two"), "a", "big", share="4bb9c0a8-2f5d-4a7c-8a31-5c3c1b7a9b10", consumed={"memory": "10Gi"}),
    ]


def test_every_device_is_listed_with_its_holders_and_the_sums() -> None:
    ran = run_on(serve(*cluster()), "devices", "--attribute", "model,memory")
    assert (ran.code, ran.err) == (0, "")
    check_golden(Path(__file__), "devices.txt", ran.out)


def test_wide_output_has_slices_classes_and_shares() -> None:
    ran = run_on(serve(*cluster()), "devices", "-o", "wide")
    check_golden(Path(__file__), "devices-wide.txt", ran.out)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_machines_get_all_of_it(form: str) -> None:
    ran = run_on(serve(*cluster()), "devices", "-o", form)
    found = json.loads(ran.out) if form == "json" else yaml.safe_load(ran.out)
    listed = {f"{one['pool']}/{one['device']}": one for one in found["devices"]}
    assert listed["a/gpu-0-0"]["heldBy"] == [{"claim": "default/one", "request": "gpu", "pods": ["default/user"]}]
    assert listed["a/big"]["heldBy"][0]["consumed"] == {"memory": "10Gi"}
    assert listed["a/big"]["shareable"] is True
    assert listed["a/gpu-0-1"]["taints"] == [
        {"key": "repair", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z", "rule": "repair"}
    ]
    assert found["totals"]["byClass"] == {"gpu": {"total": 5, "held": 1, "tainted": 2, "shared": 1, "unusable": 1}}


def test_devices_are_filtered_by_driver_class_and_node() -> None:
    served = serve(*cluster(), device_class("none", "false"))
    assert run_on(served, "devices", "--node", "b").out.count("gpu.example.com") == 2
    assert "gpu-0-0" not in run_on(served, "devices", "--class", "none").out
    assert "gpu-0-0" not in run_on(served, "devices", "--driver", "other.example.com").out
    wrong = run_on(served, "devices", "--class", "gpus")
    assert (wrong.code, wrong.err) == (2, "error: there is no DeviceClass 'gpus'; did you mean 'gpu'?\n")
    assert run_on(served, "devices", "--node", "x").code == 2


def test_a_kind_that_may_not_be_read_is_said_and_the_rest_is_listed() -> None:
    served = serve(*cluster(), forbidden=("/apis/resource.k8s.io/v1/resourceclaims",))
    ran = run_on(served, "devices")
    assert ran.code == 0
    assert "resourceclaims.resource.k8s.io may not be listed" in ran.err
    assert "gpu-0-0" in ran.out


def test_only_reading_requests_are_sent() -> None:
    served = serve(*cluster())
    run_on(served, "devices")
    assert served.methods == {"GET"}


def test_files_do_in_the_place_of_a_cluster() -> None:
    ran = run("devices", "-f", CATS, "--attribute", "age")
    assert ran.code == 0
    assert ran.out.count("resource-driver.example.com") > 30
    assert run("devices", "-f", "no-such-file").code == 2
    assert run("devices", "-f", CATS, "-w").code == 2


@pytest.mark.parametrize(("form", "said"), [("table", "changed  held"), ("json", '"change":"changed"')])
def test_a_change_is_a_line(form: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def once(_: object, look: Callable[[], list[Listed]]) -> AsyncIterator[list[tuple[str, Listed]]]:
        yield [("changed", look()[0])]

    monkeypatch.setattr(devices, "changes", once)
    ran = run_on(serve(*cluster()), "devices", "-w", "-o", form, "--attribute", "model")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(said) or said in ran.out
    wrong = run_on(serve(*cluster()), "devices", "-w", "--node", "x")
    assert (wrong.code, wrong.err) == (2, "error: there is no Node 'x'; there are a and b\n")


def test_a_device_whose_partitions_are_in_use_is_blocked_with_the_counter() -> None:
    def takes(slots: str) -> list[Raw]:
        return [{"counterSet": "gpu", "counters": {"slots": {"value": slots}}}]

    devices = resource_slice("a", 0, slices=2)
    devices["spec"]["devices"] = [{"name": "whole", "consumesCounters": takes("4")}]
    devices["spec"]["devices"] += [{"name": f"part-{i}", "consumesCounters": takes("1")} for i in range(2)]
    counters = resource_slice("a", 0, number=1, slices=2)
    counters["spec"]["sharedCounters"] = [{"name": "gpu", "counters": {"slots": {"value": "4"}}}]
    del counters["spec"]["devices"]
    held = allocated(claim("one"), "a", "part-0")
    ran = run_on(serve(node("a"), device_class(), devices, counters, held), "devices", "-o", "json")
    found = json.loads(ran.out)
    assert {one["device"]: one["state"] for one in found["devices"]} == {
        "whole": "blocked",
        "part-0": "held",
        "part-1": "free",
    }
    assert found["devices"][0]["reason"] == "counter slots of gpu: 4 needed, 3 left"
    assert found["totals"]["byDriver"]["gpu.example.com"] == {"total": 3, "blocked": 1, "held": 1, "free": 1}


def test_names_are_for_other_programs() -> None:
    ran = run_on(serve(*cluster()), "devices", "-o", "name", "--node", "a")
    assert (ran.code, ran.err) == (0, "")
    assert "gpu.example.com/a/big" in ran.out.splitlines()


def test_what_is_not_there_is_said_with_what_is() -> None:
    drivers = run_on(serve(*cluster()), "devices", "--driver", "gpu.exmple.com")
    said = "error: there is no device of driver 'gpu.exmple.com'; did you mean 'gpu.example.com'?\n"
    assert (drivers.code, drivers.err) == (2, said)
    names = run_on(serve(*cluster()), "devices", "--attribute", "modell,colour")
    assert names.code == 0
    assert "no device has an attribute or a capacity modell; did you mean model?" in names.err
    assert "no device has an attribute or a capacity colour; there are gpu.example.com/" in names.err


def test_without_slices_nothing_is_listed() -> None:
    ran = run_on(serve(*cluster(), forbidden=("/apis/resource.k8s.io/v1/resourceslices",)), "devices")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("error: ResourceSlices cannot be read, so no device is known\n")


def test_following_what_may_not_be_read_is_an_error_at_once() -> None:
    ran = run_on(serve(*cluster(), forbidden=("/api/v1/pods",)), "devices", "-w")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: pods may not be listed: the rule for apiGroups [''], resources ['pods']")


def test_changes_are_followed() -> None:
    async def play(stage: Stage) -> list[tuple[str, str, str]]:
        await stage.create(node("a"), device_class(), resource_slice("a", 2), template())
        served = await discover(Api(stage.transport))
        gates = FeatureGates.of({}, 37)
        seen: list[tuple[str, str, str]] = []
        async with followed(stage.transport, served, gates, FakeClock(), Random(0)) as known:

            async def collect(found: AsyncIterator[list[tuple[str, Listed]]]) -> None:
                async for step in found:
                    seen.extend((what, one.id.device, one.state) for what, one in step)

            task = asyncio.create_task(collect(changes(known, lambda: list_devices(known))))
            await asyncio.sleep(1)
            await stage.create(pod("p", template="gpu"))
            await stage.settle(1)
            await asyncio.sleep(2)
            slice_ = resource_slice("a", 1, generation=2)
            await stage.transport.send(
                Request(
                    "PATCH",
                    "/apis/resource.k8s.io/v1/resourceslices/slice-a-0",
                    {},
                    json.dumps({"spec": slice_["spec"]}).encode(),
                    MERGE_PATCH,
                )
            )
            await asyncio.sleep(2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return seen

    seen = on_stage(play)
    assert seen[:2] == [("added", "gpu-0-0", "free"), ("added", "gpu-0-1", "free")]
    assert ("changed", "gpu-0-0", "held") in seen
    assert ("removed", "gpu-0-1", "free") in seen
