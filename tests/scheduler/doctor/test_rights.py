"""The questions of doctor are the rules of our manifests, no more and no less."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
import yaml

from dra_api.references import POD_GROUP, RESOURCE_CLAIM
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.client.discovery import Served, Version
from dra_scheduler.doctor.rights import READING, SCHEDULING, Rule
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
from dra_scheduler.feed import quota_reflector, reflectors
from dra_scheduler.survey.read_only import ReadOnlyTransport
from support.fake_clock import FakeClock

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


WRITTEN = {
    ("", "pods/binding"),
    ("", "pods/status"),
    ("", "pods/finalizers"),
    ("events.k8s.io", "events"),
    (RESOURCE_CLAIM.group, "resourceclaims/status"),
    (RESOURCE_CLAIM.group, "resourceclaims/binding"),
    (POD_GROUP.group, "podgroups/status"),
}
"""What the writers ask for beside the kinds that are watched; ResourceClaims are both."""


def test_the_role_of_the_scheduler_has_no_resource_that_it_neither_watches_nor_writes() -> None:
    clock, gates = FakeClock(), FeatureGates.of({}, NEWEST_MINOR)
    cluster = Cluster(gates.features(), gates)
    served = Served("v1", "v1", Version(1, 37), "v1.37.2", frozenset(), pod_group_version="v1beta1")
    transport = ReadOnlyTransport(None)  # type: ignore[arg-type]  # nothing is sent
    fed = [*reflectors(transport, served, cluster, clock, Random(1))]
    fed.append(quota_reflector(transport, cluster, clock, Random(1)))
    watched = {(one.resource.group, one.resource.plural) for one in fed}
    assert {(group, resource) for group, resource, _ in in_manifest("rbac.yaml", "dra-scheduler")} == watched | WRITTEN


def test_only_one_scheduler_runs_because_nothing_keeps_two_of_them_apart() -> None:
    deployment = yaml.safe_load((MANIFESTS / "deployment.yaml").read_text())["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
