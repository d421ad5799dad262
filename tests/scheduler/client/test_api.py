from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.transport import JSON, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Response
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import (
    BY_STATUS,
    ApiStatusError,
    Cause,
    ConflictError,
    NotFoundError,
    ResponseError,
)
from dra_scheduler.client.status import MESSAGE_LIMIT, error_of
from support.scripted import Scripted

STATUS = {
    "kind": "Status",
    "code": 409,
    "reason": "Conflict",
    "message": "the object has been modified",
    "details": {"causes": [{"reason": "X", "field": "spec", "message": "m"}], "retryAfterSeconds": 7},
}


async def test_each_verb_is_its_method_with_the_body_and_type_that_go_with_it() -> None:
    transport = Scripted({f"{method} /x": {} for method in ("GET", "POST", "PUT", "PATCH", "DELETE")})
    api = Api(transport)
    await api.get("/x")
    await api.list("/x", {"limit": "5"})
    await api.create("/x", {"a": 1})
    await api.replace("/x", {"a": 1})
    await api.patch("/x", {"a": 1})
    await api.patch("/x", {"a": 1}, STRATEGIC_MERGE_PATCH)
    await api.delete("/x")
    await api.delete("/x", {"preconditions": {"uid": "u"}})
    seen = [(r.method, dict(r.query), r.body and orjson.loads(r.body), r.content_type) for r in transport.requests]
    assert seen == [
        ("GET", {}, None, JSON),
        ("GET", {"limit": "5"}, None, JSON),
        ("POST", {}, {"a": 1}, JSON),
        ("PUT", {}, {"a": 1}, JSON),
        ("PATCH", {}, {"a": 1}, MERGE_PATCH),
        ("PATCH", {}, {"a": 1}, STRATEGIC_MERGE_PATCH),
        ("DELETE", {}, None, JSON),
        ("DELETE", {}, {"preconditions": {"uid": "u"}}, JSON),
    ]


async def test_a_refusal_has_the_server_s_reason_message_and_causes() -> None:
    with pytest.raises(ConflictError) as caught:
        await Api(Scripted({"PUT /x": (409, STATUS)})).replace("/x", {})
    error = caught.value
    assert (error.reason, error.message, error.retry_after) == ("Conflict", "the object has been modified", 7.0)
    assert error.causes == (Cause("spec", "X", "m"),)
    assert str(error) == "409 Conflict: the object has been modified"


async def test_plain_text_is_a_refusal_too_and_success_that_is_no_object_an_error() -> None:
    with pytest.raises(NotFoundError, match="404: 404 page not found"):
        await Api(Scripted({})).get("/x")
    for body in (b"<html>", b"[]", b""):
        with pytest.raises(ResponseError, match="GET /x: the answer is not"):
            await Api(Scripted({"GET /x": (200, body)})).get("/x")


@pytest.mark.parametrize(
    ("header", "seconds"), [("5", 5.0), ("0", None), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None), ("٣", None)]
)
def test_retry_after_counts_when_it_is_whole_seconds(header: str, seconds: float | None) -> None:
    assert error_of(Response(429, b"slow down", {"retry-after": header})).retry_after == seconds


@given(st.sampled_from([*BY_STATUS, 400, 500, 503]), st.binary(max_size=50) | st.just(b"x" * 100_000))
def test_whatever_the_body_an_error_status_is_an_error_of_bounded_size(code: int, body: bytes) -> None:
    error = error_of(Response(code, body))
    assert type(error) is BY_STATUS.get(code, ApiStatusError)
    assert error.status == code
    assert len(str(error)) <= MESSAGE_LIMIT + 50


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(STATUS)), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from([*STATUS, "details"]), JSONS))
def test_a_malformed_status_is_still_a_readable_error(body: dict[str, object]) -> None:
    error = error_of(Response(422, orjson.dumps({**body, "kind": "Status"})))
    assert error.status == 422
    assert isinstance(error.causes, tuple)
