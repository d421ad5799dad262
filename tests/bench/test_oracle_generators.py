from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dra_api import decode
from dra_bench.conformance.fields import device_fields
from dra_bench.oracle import generate_clusters, generate_expressions
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.expression_templates import LEAVES, TEMPLATES


def test_a_seed_always_gives_the_same_cluster_expression_and_devices() -> None:
    assert generate_clusters.generate(7) == generate_clusters.generate(7)
    assert generate_clusters.generate(7) != generate_clusters.generate(8)
    assert generate_expressions.generate(7) == generate_expressions.generate(7)
    assert generate_expressions.devices(7) == generate_expressions.devices(7)


def test_the_choices_of_a_seed_do_not_change_between_versions() -> None:
    draw = Draw("fixed")
    assert [draw.number(0, 9) for _ in range(8)] == [1, 8, 2, 7, 8, 3, 2, 1]


def test_generated_objects_are_read_by_our_decoders() -> None:
    for seed in range(60):
        cluster = generate_clusters.generate(seed)
        for one in cluster["slices"]:
            assert decode.resource_slice(one).unsupported is None
        for claim in cluster["claimsToAllocate"]:
            assert all(request.unsupported is None for request in decode.resource_claim(claim).requests)
        for device_class in cluster["classes"]:
            assert decode.device_class(device_class).unsupported is None
        assert decode.node(cluster["node"]).name == "node-1"


def test_slices_of_a_cluster_have_different_names_and_pools_say_how_many_there_are() -> None:
    for seed in range(60):
        slices = generate_clusters.generate(seed)["slices"]
        assert len({one["metadata"]["name"] for one in slices}) == len(slices)
        pools = Counter(
            (s["spec"]["driver"], s["spec"]["pool"]["name"], s["spec"]["pool"]["generation"]) for s in slices
        )
        assert all(count > 0 for count in pools.values())


def test_every_feature_is_used_by_some_seeds_and_off_in_some() -> None:
    clusters = [generate_clusters.generate(seed) for seed in range(200)]
    for feature in generate_clusters.FEATURES:
        assert {cluster["features"][feature] for cluster in clusters} == {True, False}
    text = str(clusters)
    fields = (
        "adminAccess firstAvailable taints consumesCounters bindingConditions compatibilityGroups derivedAttributes"
    )
    for used in f"{fields} validRange skipNodeOperations ints perDeviceNodeSelection".split():
        assert f"'{used}'" in text


def test_every_placeholder_of_a_template_names_a_type() -> None:
    for kind, templates in TEMPLATES.items():
        assert kind in LEAVES
        for template in templates:
            for found in generate_expressions._PLACEHOLDER.finditer(template):
                assert (found.group(1) or found.group(2)) in LEAVES, template


def test_generated_devices_are_read_as_expressions_see_them() -> None:
    for seed in range(50):
        for device in generate_expressions.devices(seed):
            assert device_fields(device).driver == device["driver"]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_smaller_than_an_expression_has_fewer_or_simpler_parts(seed: int) -> None:
    made = generate_expressions.generate(seed)
    for smaller in made.smaller():
        assert smaller != made
        assert smaller.kind == made.kind


def test_crowds_have_more_devices_and_less_time() -> None:
    def devices(cluster: dict[str, Any]) -> int:
        return sum(len(one["spec"].get("devices", ())) for one in cluster["slices"])

    crowds = [generate_clusters.generate_crowd(seed) for seed in range(30)]
    clusters = [generate_clusters.generate(seed) for seed in range(30)]
    assert sum(map(devices, crowds)) > 2 * sum(map(devices, clusters))
    assert {crowd["timeLimitMs"] for crowd in crowds} == {500}
