from __future__ import annotations

from support.contract import DRA, Server, claim, contract, pod


async def make_claims(server: Server, *names: str) -> None:
    for name in names:
        body = claim(name)
        body["metadata"]["labels"] = {"letter": name, "kind": "vowel" if name in "aeiou" else "consonant"}
        await server.create(server.claims, body)


def names(answer: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    return [each["metadata"]["name"] for each in answer["items"]]


@contract
async def test_a_list_is_in_order_and_its_items_have_no_kind(server: Server) -> None:
    await make_claims(server, "c", "a", "b")
    listed = await server.get(server.claims)
    assert (listed["kind"], listed["apiVersion"]) == ("ResourceClaimList", "resource.k8s.io/v1")
    assert names(listed) == ["a", "b", "c"]
    assert all("kind" not in each and "apiVersion" not in each for each in listed["items"])
    newest = max(int(each["metadata"]["resourceVersion"]) for each in listed["items"])
    assert int(listed["metadata"]["resourceVersion"]) >= newest


@contract
async def test_an_empty_list_has_no_items_but_a_version(server: Server) -> None:
    listed = await server.get(server.claims)
    assert listed["items"] == []
    assert listed["metadata"].keys() == {"resourceVersion"}


@contract
async def test_label_selectors(server: Server) -> None:
    await make_claims(server, "a", "b", "c", "e")
    for selector, expected in [
        ("letter=a", ["a"]),
        ("kind!=vowel", ["b", "c"]),
        ("letter in (a, c),kind", ["a", "c"]),
        ("letter notin (a)", ["b", "c", "e"]),
        ("!letter", []),
    ]:
        assert names(await server.get(server.claims, labelSelector=selector)) == expected, selector
    (await server.call("GET", server.claims, labelSelector="a=b=c")).refused(400, "BadRequest")


@contract
async def test_field_selectors_of_pods(server: Server) -> None:
    await server.create(server.pods, pod("free"))
    await server.create(server.pods, pod("bound", nodeName="node-1"))
    await server.merge(f"{server.pods}/bound/status", {"status": {"phase": "Running"}})
    for selector, expected in [
        ("spec.nodeName=", ["free"]),
        ("spec.nodeName!=", ["bound"]),
        ("status.phase=Running", ["bound"]),
        ("status.phase!=Running,spec.schedulerName=nobody", ["free"]),
        ("metadata.name=free", ["free"]),
        (f"metadata.namespace={server.namespace},spec.restartPolicy=Always", ["bound", "free"]),
    ]:
        assert names(await server.get(server.pods, fieldSelector=selector)) == expected, selector
    (await server.call("GET", server.pods, fieldSelector="spec.priority=0")).refused(400, "BadRequest")


@contract
async def test_field_selectors_of_slices(server: Server) -> None:
    name, driver = server.unique("slice"), f"{server.prefix}.example.com"
    pool = {"name": "the-pool", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "pool": pool, "nodeName": "node-1", "devices": [{"name": "d"}]}
    await server.create(f"{DRA}/resourceslices", {"metadata": {"name": name}, "spec": spec})
    for selector in ("spec.nodeName=node-1", f"spec.driver={driver}", "spec.pool.name=the-pool"):
        found = await server.get(f"{DRA}/resourceslices", fieldSelector=f"spec.driver={driver},{selector}")
        assert names(found) == [name]
    assert names(await server.get(f"{DRA}/resourceslices", fieldSelector=f"spec.driver={driver},spec.nodeName=x")) == []
    await server.delete(f"{DRA}/resourceslices/{name}")


@contract
async def test_pages_are_of_one_version(server: Server) -> None:
    await make_claims(server, "a", "b", "c", "d", "e")
    first = await server.get(server.claims, limit="2")
    assert names(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 3
    await server.delete(f"{server.claims}/d")
    await make_claims(server, "bb")
    token = {"continue": first["metadata"]["continue"]}
    second = await server.get(server.claims, limit="2", **token)
    assert names(second) == ["c", "d"]
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    third = await server.get(server.claims, limit="2", **{"continue": second["metadata"]["continue"]})
    assert names(third) == ["e"]
    assert "continue" not in third["metadata"]
    assert "remainingItemCount" not in third["metadata"]


@contract
async def test_pages_of_a_selection_do_not_say_how_much_is_left(server: Server) -> None:
    await make_claims(server, "a", "b", "c", "e")
    page = await server.get(server.claims, limit="1", labelSelector="kind=vowel")
    assert names(page) == ["a"]
    assert "remainingItemCount" not in page["metadata"]
    rest = {"continue": page["metadata"]["continue"]}
    assert names(await server.get(server.claims, labelSelector="kind=vowel", **rest)) == ["e"]


@contract
async def test_a_list_at_an_exact_version_is_as_it_was(server: Server) -> None:
    await make_claims(server, "a", "b")
    version = (await server.get(server.claims))["metadata"]["resourceVersion"]
    await server.delete(f"{server.claims}/a")
    await make_claims(server, "c")
    exact = await server.get(server.claims, resourceVersion=version, resourceVersionMatch="Exact")
    assert names(exact) == ["a", "b"]
    assert exact["metadata"]["resourceVersion"] == version
    newer = await server.get(server.claims, resourceVersion=version, resourceVersionMatch="NotOlderThan")
    assert names(newer) == ["b", "c"]


@contract
async def test_parameters_that_exclude_each_other_are_refused(server: Server) -> None:
    answer = await server.call("GET", server.claims, resourceVersionMatch="Exact")
    answer.refused(422, "Invalid", ("FieldValueForbidden", "resourceVersionMatch"))
    answer = await server.call("GET", server.claims, resourceVersionMatch="Exact", resourceVersion="0")
    answer.refused(422, "Invalid", ("FieldValueForbidden", "resourceVersionMatch"))
    answer = await server.call("GET", server.claims, resourceVersionMatch="Sometimes", resourceVersion="1")
    answer.refused(422, "Invalid", ("FieldValueNotSupported", "resourceVersionMatch"))
    answer = await server.call("GET", server.claims, sendInitialEvents="true")
    answer.refused(422, "Invalid", ("FieldValueForbidden", "sendInitialEvents"))
    (await server.call("GET", server.claims, **{"continue": "nonsense"})).refused(400, "BadRequest")


@contract
async def test_a_version_of_the_future_times_out(server: Server) -> None:
    version = str(int(await server.version()) + 1_000_000)
    answer = await server.call("GET", server.claims, resourceVersion=version, resourceVersionMatch="NotOlderThan")
    answer.refused(504, "Timeout", ("ResourceVersionTooLarge", ""))


@contract
async def test_a_version_that_is_no_number_is_refused(server: Server) -> None:
    answer = await server.call("GET", server.claims, resourceVersion="abc")
    answer.refused(400, "BadRequest")


@contract
async def test_all_namespaces_are_listed_together(server: Server) -> None:
    await make_claims(server, "a")
    listed = await server.get(f"{DRA}/resourceclaims", fieldSelector=f"metadata.namespace={server.namespace}")
    assert names(listed) == ["a"]
