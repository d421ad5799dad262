"""The questions of doctor are the rules of our manifests, no more and no less."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from dra_scheduler.doctor.rights import READING, SCHEDULING, Rule

MANIFESTS = Path(__file__).resolve().parents[3] / "manifests"
Triple = tuple[str, str, str]


def in_manifest(file: str, name: str) -> set[Triple]:
    documents = yaml.safe_load_all((MANIFESTS / file).read_text())
    (role,) = [d for d in documents if d["kind"] == "ClusterRole" and d["metadata"]["name"] == name]
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule.get("apiGroups", ())
        for resource in rule.get("resources", ())
        for verb in rule["verbs"]
    }


def asked(rules: Iterable[Rule]) -> set[Triple]:
    return {(rule.group, rule.resource, verb) for rule in rules for verb in rule.verbs.split()}


@pytest.mark.parametrize(
    ("file", "name", "rules"),
    [
        ("rbac.yaml", "dra-scheduler", SCHEDULING),
        ("rbac-readonly.yaml", "dra-scheduler-readonly", READING),
    ],
)
def test_every_rule_of_the_manifest_is_asked_for(file: str, name: str, rules: tuple[Rule, ...]) -> None:
    assert asked(rules) == in_manifest(file, name)


def test_the_role_for_looking_has_verbs_that_only_look() -> None:
    assert {verb for _, _, verb in in_manifest("rbac-readonly.yaml", "dra-scheduler-readonly")} == {
        "get",
        "list",
        "watch",
    }
