"""Affinity between pods, against an oracle that looks at one node and one pod at a time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo, pod_info
from dra_scheduler.cycle.diagnosis import Diagnosis
from dra_scheduler.cycle.filters.affinity import NOT_APART, NOT_NEAR, REPELLED, filter_affinity
from support.known import decide, known_cluster
from support.objects import Raw, make_node, make_pod, meta, newer

ZONES = ["a", "b", None]
KEYS = ["zone", "kubernetes.io/hostname", "missing"]


def term(key: str, app: str | None, **more: object) -> Raw:
    selector = {} if app is None else {"labelSelector": {"matchLabels": {"app": app}}}
    return {"topologyKey": key, **selector, **more}


def affinity(near: list[Raw] | None = None, apart: list[Raw] | None = None) -> Raw:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"podAffinity": {required: near or []}, "podAntiAffinity": {required: apart or []}}


def labelled(name: str, app: str, *, namespace: str = "default", **more: object) -> Raw:
    pod = make_pod(name, namespace=namespace, **more)  # type: ignore[arg-type]
    pod["metadata"]["labels"] = {"app": app}
    return pod


def zones(*names: str | None) -> list[Raw]:
    return [make_node(f"n{i}", labels={} if zone is None else {"zone": zone}) for i, zone in enumerate(names)]


def survivors(cluster: Cluster, pod: PodInfo) -> tuple[set[str], dict[str, int]]:
    found = Diagnosis(cluster.nodes)
    filter_affinity(pod, cluster.pods, cluster.nodes, cluster.namespaces, found)
    return {cluster.nodes.name(row) for row in found.left.nonzero()[0].tolist()}, dict(found.counts)


def test_anti_affinity_keeps_pods_out_of_the_zone_in_both_directions() -> None:
    cluster = known_cluster(zones("a", "a", "b"))
    cluster.apply_pod(None, labelled("there", "db", node="n0", affinity=affinity(apart=[term("zone", "web")])))
    web = pod_info(labelled("web", "web"))
    assert survivors(cluster, web) == ({"n2"}, {REPELLED: 2})
    shy = pod_info(labelled("shy", "cache", affinity=affinity(apart=[term("zone", "db")])))
    assert survivors(cluster, shy) == ({"n2"}, {NOT_APART: 2})


def test_affinity_needs_a_pod_in_the_zone_unless_it_is_the_first_of_its_group() -> None:
    cluster = known_cluster(zones("a", "b", None))
    near_web = affinity(near=[term("zone", "web")])
    assert survivors(cluster, pod_info(labelled("p", "db", affinity=near_web))) == (set(), {NOT_NEAR: 3})
    assert survivors(cluster, pod_info(labelled("p", "web", affinity=near_web))) == ({"n0", "n1"}, {NOT_NEAR: 1})
    cluster.apply_pod(None, labelled("first", "web", node="n1"))
    assert survivors(cluster, pod_info(labelled("p", "web", affinity=near_web))) == ({"n1"}, {NOT_NEAR: 2})


def test_namespaces_are_listed_selected_or_the_pods_own() -> None:
    cluster = known_cluster(zones("a", "b"))
    for name, team in (("default", "x"), ("other", "y")):
        cluster.apply_namespace(None, {"metadata": meta(name, None, labels={"team": team})})
    cluster.apply_pod(None, labelled("there", "db", namespace="other", node="n0"))

    def apart(**more: object) -> set[str]:
        pod = labelled("p", "web", affinity=affinity(apart=[term("zone", "db", **more)]))
        return survivors(cluster, pod_info(pod))[0]

    assert apart() == {"n0", "n1"}
    assert apart(namespaces=["other"]) == {"n1"}
    assert apart(namespaceSelector={}) == {"n1"}
    assert apart(namespaceSelector={"matchLabels": {"team": "y"}}) == {"n1"}
    assert apart(namespaceSelector={"matchLabels": {"team": "x"}}) == {"n0", "n1"}


def test_a_pod_that_has_only_been_decided_counts() -> None:
    cluster = known_cluster(zones("a", "b"))
    apart = affinity(apart=[term("zone", "web")])
    places = {getattr(decide(cluster, labelled(f"p{i}", "web", affinity=apart)), "node", None) for i in range(3)}
    assert places == {"n0", "n1", None}


def test_a_change_of_a_placed_pods_labels_counts() -> None:
    cluster = known_cluster(zones("a"))
    there = labelled("there", "web", node="n0")
    cluster.apply_pod(None, there)
    pod = pod_info(labelled("p", "x", affinity=affinity(apart=[term("zone", "db")])))
    assert survivors(cluster, pod)[0] == {"n0"}
    changed = newer(there)
    changed["metadata"] = changed["metadata"] | {"labels": {"app": "db"}}
    cluster.apply_pod(there, changed)
    assert survivors(cluster, pod)[0] == set()


terms = st.lists(st.builds(term, st.sampled_from(KEYS), st.sampled_from(["x", "y", None])), max_size=2)
others = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xy"), terms), max_size=4)


def brute_force(nodes: list[Raw], there: list[Raw], pod: Raw) -> set[str]:
    """The definition, one node at a time."""
    labels = {node["metadata"]["name"]: node["metadata"]["labels"] for node in nodes}

    def means(entry: Raw, other: Raw) -> bool:
        wanted = entry.get("labelSelector")
        return wanted is not None and wanted["matchLabels"]["app"] == other["metadata"]["labels"]["app"]

    def together(entry: Raw, node: str, other: Raw) -> bool:
        mine, theirs = (
            labels[node].get(entry["topologyKey"]),
            labels[other["spec"]["nodeName"]].get(entry["topologyKey"]),
        )
        return mine is not None and mine == theirs

    def required(raw: Raw, kind: str) -> list[Raw]:
        terms: list[Raw] = raw["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"]
        return terms

    near, apart = required(pod, "podAffinity"), required(pod, "podAntiAffinity")
    meant = [o for o in there if all(means(t, o) for t in near)]
    pairs = [t for t in near for o in meant if t["topologyKey"] in labels[o["spec"]["nodeName"]]]
    first = bool(near) and not pairs and all(means(t, pod) for t in near)
    fits = set()
    for node in labels:
        ok = all(any(together(t, node, o) for o in meant) or (first and t["topologyKey"] in labels[node]) for t in near)
        ok = ok and not any(means(t, o) and together(t, node, o) for t in apart for o in there)
        ok = ok and not any(
            means(t, pod) and together(t, node, o) for o in there for t in required(o, "podAntiAffinity")
        )
        if ok:
            fits.add(node)
    return fits


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(ZONES), min_size=4, max_size=4), others, terms, terms, st.sampled_from("xy"))
def test_the_same_nodes_are_left_as_by_the_definition(
    zone_names: list[str | None], there: list[tuple[int, str, list[Raw]]], near: list[Raw], apart: list[Raw], app: str
) -> None:
    nodes = zones(*zone_names)
    placed = [
        labelled(f"o{i}", of, node=f"n{at}", affinity=affinity(apart=repels))
        for i, (at, of, repels) in enumerate(there)
    ]
    pod = labelled("p", app, affinity=affinity(near, apart))
    cluster = known_cluster(nodes)
    for raw in placed:
        cluster.apply_pod(None, raw)
    assert survivors(cluster, pod_info(pod))[0] == brute_force(nodes, placed, pod)
