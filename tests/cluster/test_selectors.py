"""Label and field selectors in query form against the real API server: the same objects, the same refusals."""

from __future__ import annotations

from random import Random

from dra_api.errors import SelectorSyntaxError
from dra_api.field_selectors import parse_field_query
from dra_api.labels import parse_label_query
from dra_bench.controlplane.client import Client

KEYS = ("a", "b", "x.io/c", "in", "notin")
VALUES = ("", "x", "y", "7", "10", "x.y", "in", "abc")
QUERIES = 250


def label_term(random: Random) -> str:
    key, value = random.choice(KEYS), random.choice((*VALUES, "-3"))
    values = random.choice((",", " , ")).join(random.choice(VALUES) for _ in range(random.randint(0, 3)))
    return random.choice(
        (
            key,
            f"!{key}",
            key + random.choice(("=", "==", "!=", " = ", "= ")) + value,
            key + random.choice((">", "<", " > ")) + value,
            key + random.choice((" in ", " notin ")) + f"({values})",
            "".join(
                random.choice(("a", "=", "!", "(", ")", ",", " ", "in", "x", "<")) for _ in range(random.randint(1, 5))
            ),
        )
    )


def listed(admin: Client, namespace: str, parameter: str, query: str) -> set[str] | None:
    """The names of the test's ConfigMaps that the server selects, or None if it refuses the query."""
    answer = admin.request("GET", f"/api/v1/namespaces/{namespace}/configmaps", query={parameter: query})
    assert answer.status in (200, 400), answer.message
    if answer.status == 400:
        return None
    return {item["metadata"]["name"] for item in answer.body["items"]} - {"kube-root-ca.crt"}


def create(admin: Client, namespace: str, name: str, labels: dict[str, str]) -> None:
    body = {"metadata": {"name": name, "labels": labels}}
    answer = admin.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)
    assert answer.status == 201, answer.message


def test_label_queries_select_what_the_server_selects(admin: Client, namespace: str) -> None:
    random = Random(5)
    objects = {f"c{i}": {key: random.choice(VALUES) for key in KEYS if random.random() < 0.5} for i in range(12)}
    for name, labels in objects.items():
        create(admin, namespace, name, labels)
    for _ in range(QUERIES):
        query = ",".join(label_term(random) for _ in range(random.randint(1, 3)))
        try:
            matcher = parse_label_query(query)
            ours = {name for name, labels in objects.items() if matcher.matches(labels)}
        except SelectorSyntaxError:
            ours = None
        assert ours == listed(admin, namespace, "labelSelector", query), query


def test_field_queries_select_what_the_server_selects(admin: Client, namespace: str) -> None:
    random = Random(6)
    names = {"c1", "c2"}
    for name in names:
        create(admin, namespace, name, {})
    for _ in range(QUERIES // 2):
        parts = ("metadata.name", "=", "==", "!=", "c1", "c2", ",", "\\", "\\,")
        query = "".join(random.choice(parts) for _ in range(random.randint(1, 7)))
        try:
            matcher = parse_field_query(query)
            ours = {name for name in names if matcher.matches(lambda _field, name=name: name)}
            if any(term.field != "metadata.name" for term in matcher.terms):
                ours = None
        except SelectorSyntaxError:
            ours = None
        assert ours == listed(admin, namespace, "fieldSelector", query), query
