"""Random clusters from a seed: one node that is asked for, pools, classes, claims and what is allocated already.

Small (a dozen devices at most, usually) and adversarial: the sets of names and values are tiny, features are mixed, and
the gates are random, so a cluster may use what is switched off. What the API server would refuse is not generated.
"""

from __future__ import annotations

import copy
from typing import Any

from dra_bench.oracle.draw import Draw
from dra_bench.oracle.features import FEATURES
from dra_bench.oracle.generate_claims import ClaimMaker, classes
from dra_bench.oracle.generate_scenes import scene
from dra_bench.oracle.generate_slices import CROWD, slices
from dra_bench.oracle.generate_twists import twisted

JSON = dict[str, Any]

IN_SCENE = 0.35
"""How many clusters are about one feature."""
TWISTED = 0.25
"""How many clusters take a rare turn."""
NEEDS = {"CompatibilityGroups": "PartitionableDevices", "FractionalCapacityRange": "ConsumableCapacity"}


def generate_crowd(seed: int) -> JSON:
    """Return a cluster with more devices that are alike and larger counts, and half a second for Kubernetes."""
    return {**_generate(Draw(f"crowd {seed}"), frozenset({CROWD})), "timeLimitMs": 500}


def generate(seed: int) -> JSON:
    """Return the input of an attempt, in the form of the conformance cases (`input`)."""
    draw = Draw(f"cluster {seed}")
    made = scene(draw) if draw.chance(IN_SCENE) else _generate(draw, frozenset())
    # What is shared between parts of the cluster (a policy, a taint) must not change for all of them.
    return twisted(draw, copy.deepcopy(made)) if draw.chance(TWISTED) else made


def _generate(draw: Draw, more: frozenset[str]) -> JSON:
    aspects = frozenset(draw.some(sorted(FEATURES.values()), 0, draw.weighted({0: 1, 2: 4, 3: 4, 5: 2, 11: 1}))) | more
    features = {name: draw.chance(0.95 if aspect in aspects else 0.5) for name, aspect in FEATURES.items()}
    for name, prerequisite in NEEDS.items():
        features[name] = features[name] and features[prerequisite]
    published = slices(draw, aspects)
    maker = ClaimMaker(draw, aspects, frozenset(slice_["spec"]["driver"] for slice_ in published))
    return {
        "features": features,
        "node": _node(draw),
        "classes": classes(draw),
        "claimsToAllocate": [maker.claim(number) for number in range(draw.weighted({1: 6, 2: 3, 3: 1}))],
        "slices": published,
        **_allocated(draw, published, shares=features["ConsumableCapacity"]),
    }


def _node(draw: Draw) -> JSON:
    labels = {"zone": draw.one(["z1", "z2", "z3"]), "size": draw.one(["2", "4"])}
    status = {"declaredFeatures": ["DRAOptionalNodeOperations"]} if draw.chance(0.6) else {}
    metadata = {"name": "node-1", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status}


def _allocated(draw: Draw, published: list[JSON], *, shares: bool) -> JSON:
    """Some devices are held: whole ones by one claim, shareable ones by shares with what they consume."""
    whole, shared, consumed = [], [], []
    seen = set()
    for slice_ in published:
        spec = slice_["spec"]
        for device in spec.get("devices", ()):
            key = (spec["driver"], spec["pool"]["name"], device["name"])
            if key in seen or not draw.chance(0.15):
                continue
            seen.add(key)
            identity = dict(zip(("driver", "pool", "device"), key, strict=True))
            if not (shares and device.get("allowMultipleAllocations")):
                whole.append(identity)
                continue
            ids = [f"00000000-0000-0000-0000-00000000000{number}" for number in range(draw.number(1, 2))]
            shared += [{**identity, "shareID": one} for one in ids]
            amounts = {name: draw.one(["1", "2", "4"]) for name in device.get("capacity", ())}
            if amounts:
                consumed.append({**identity, "consumedCapacity": amounts})
    return {"allocatedDevices": whole, "allocatedSharedDeviceIDs": shared, "aggregatedCapacity": consumed}
