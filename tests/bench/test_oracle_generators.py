from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

from dra_api import decode
from dra_bench.conformance.fields import device_fields
from dra_bench.oracle import generate_clusters, generate_expressions
from dra_bench.oracle.draw import Draw
from dra_bench.oracle.expression_templates import LEAVES, TEMPLATES
from dra_bench.oracle.features import FEATURES
from dra_bench.oracle.generate_scenes import SCENES
from dra_bench.oracle.generate_twists import TWISTS, twisted
from dra_cel.functions.catalogue import OVERLOADS


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
        cluster = generate_clusters.generate_crowd(seed)
        for one in cluster["slices"]:
            assert all(device.unsupported is None for device in decode.resource_slice(one).devices)
        for claim in cluster["claimsToAllocate"]:
            assert all(request.unsupported is None for request in decode.resource_claim(claim).requests)
        for device_class in cluster["classes"]:
            assert decode.device_class(device_class).unsupported is None
        assert decode.node(cluster["node"]).name == "node-1"


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_a_cluster_that_our_decoders_read(name: str) -> None:
    for seed in range(8):
        cluster = SCENES[name](Draw(seed))
        assert set(cluster["features"]) == set(FEATURES)
        for one in cluster["slices"]:
            assert all(device.unsupported is None for device in decode.resource_slice(one).devices)
        for claim in cluster["claimsToAllocate"]:
            assert all(request.unsupported is None for request in decode.resource_claim(claim).requests)


@pytest.mark.parametrize("name", TWISTS)
def test_a_twist_changes_some_cluster_and_keeps_it_readable(name: str) -> None:
    changed = 0
    for seed in range(60):
        plain = generate_clusters.generate_crowd(seed)
        cluster = copy.deepcopy(plain)
        TWISTS[name](Draw(seed), cluster)
        changed += cluster != plain
        for one in cluster["slices"]:
            decode.resource_slice(one)
        for claim in cluster["claimsToAllocate"]:
            decode.resource_claim(claim)
    assert changed > 0


def test_one_or_two_twists_may_meet() -> None:
    clusters = [generate_clusters.generate_crowd(seed) for seed in range(80)]
    assert all(twisted(Draw(seed), copy.deepcopy(one)) for seed, one in enumerate(clusters))


def test_every_overload_of_the_language_is_drawn_sooner_or_later() -> None:
    texts = " ".join(str(generate_expressions.generate(seed)) for seed in range(6000))
    for function in {
        entry.function for entry in OVERLOADS if entry.function[0].isalpha() and "@" not in entry.function
    }:
        assert f"{function.split('.')[-1]}(" in texts, function


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
    for feature in FEATURES:
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
