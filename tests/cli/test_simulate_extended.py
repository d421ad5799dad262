"""`dra-scheduler simulate` with extended resources that devices serve."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from support.cli import run
from support.stage import Raw, device_class, node, pod, resource_slice

NAME = "example.com/gpu"


def files(folder: Path) -> str:
    """One node with a device plugin's resource, one with two devices, four pods that want one each."""
    stands_for = device_class()
    stands_for["spec"]["extendedResourceName"] = NAME
    pods: list[Raw] = []
    for number in range(4):
        asking = pod(f"p{number}")
        amounts = {NAME: "1"}
        asking["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        pods.append(asking)
    nodes = [node("plugin", **{NAME: "1"}), node("devices")]
    path = folder / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([*nodes, resource_slice("devices", 2), stands_for, *pods]))
    return str(path)


def test_pods_show_their_special_claims_and_who_has_the_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    ran = run("simulate", "-f", files(tmp_path))
    assert ran.code == 1  # one pod is left
    rows = [line.split(maxsplit=5) for line in ran.out.split("ResourceClaims")[0].splitlines()[2:] if line.strip()]
    assert sorted(row[2] for row in rows) == ["-", "devices", "devices", "plugin"]
    named = {row[1]: row[4] for row in rows if row[2] == "devices"}
    assert all(claim.startswith(f"{pod}-extended-resources-") for pod, claim in named.items())
    (reason,) = (row[5] for row in rows if row[2] == "-")
    assert all(f"default/{claim}" in reason for claim in named.values())
    assert "unknown" not in reason
