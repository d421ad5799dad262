from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from dra_api.references import NODE, RESOURCE_SLICE
from dra_api.transport import Request, Response
from dra_embedded.server import EmbeddedServer
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import GoneError, ResponseError
from dra_scheduler.client.listing import MAX_LIMIT, Listing, Page
from support.faulty import status
from support.scripted import Scripted

Pages = list[Page]


async def pages_of(listing: Listing) -> Pages:
    return [page async for page in listing.pages()]


def test_pages_make_a_complete_list_at_one_version_and_items_know_their_kind() -> None:
    async def main(clock: VirtualClock) -> None:
        server = EmbeddedServer(clock, random.Random(1))
        for index in range(250):
            await Api(server).create("/api/v1/nodes", {"metadata": {"name": f"n-{index:03}"}})
        listing = Listing(server, NODE, NODE.path(), {})
        pages = await pages_of(listing)
        assert [page.first for page in pages] == [True] + [False] * (len(pages) - 1)
        assert len(pages) > 1
        assert len({page.resource_version for page in pages}) == 1
        items = [item for page in pages for item in page.items]
        assert [item["metadata"]["name"] for item in items] == [f"n-{index:03}" for index in range(250)]
        assert {(item["apiVersion"], item["kind"]) for item in items} == {("v1", "Node")}

    run_virtual(main)


class Sized:
    """Serves endless pages of objects of a given size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.limits: list[int] = []

    async def send(self, request: Request) -> Response:
        limit = int(request.query["limit"])
        self.limits.append(limit)
        more = "more" if len(self.limits) < 6 else ""
        items = [{"metadata": {"name": str(index)}, "x": "x" * self.size} for index in range(limit)]
        return Response(200, orjson.dumps({"metadata": {"resourceVersion": "1", "continue": more}, "items": items}))

    def watch(self, request: Request) -> Any:
        raise AssertionError


@pytest.mark.parametrize(("size", "limit"), [(30_000, 16), (3_000, 164), (1, MAX_LIMIT), (200_000, 10)])
async def test_pages_come_to_a_size_that_is_decoded_in_a_few_milliseconds(size: int, limit: int) -> None:
    transport = Sized(size)
    await pages_of(Listing(transport, RESOURCE_SLICE, "/x", {}))
    assert transport.limits[0] == 100
    assert transport.limits[-1] == pytest.approx(limit, abs=1)


async def test_an_expired_continue_token_begins_anew_and_in_the_end_without_pages() -> None:
    def page(name: str, token: str = "") -> dict[str, Any]:
        return {"metadata": {"resourceVersion": name, "continue": token}, "items": [{"metadata": {"name": name}}]}

    expired = (410, orjson.loads(status(410, "Expired").body))
    answers: list[Any] = [page("1", "t"), expired, page("2", "t"), expired]
    answers += [page("3", "t"), expired, page("4", "t"), expired, page("5")]
    transport = Scripted({"GET /x": answers})
    pages = await pages_of(Listing(transport, NODE, "/x", {"labelSelector": "a=b"}))
    assert [(page.resource_version, page.first) for page in pages] == [(str(n), True) for n in range(1, 6)]
    assert "limit" not in transport.requests[-1].query
    assert all(request.query["labelSelector"] == "a=b" for request in transport.requests)


async def test_what_is_no_list_is_an_error() -> None:
    for body in (b"[]", b"{}", b"<", b'{"metadata":{},"items":[1]}', b'{"metadata":{},"items":{"a":1}}'):
        with pytest.raises(ResponseError):
            await pages_of(Listing(Scripted({"GET /x": (200, body)}), NODE, "/x", {}))
    with pytest.raises(GoneError):
        await pages_of(Listing(Scripted({"GET /x": (410, b"")}), NODE, "/x", {}))
