from __future__ import annotations

import random
from typing import Any

import pytest

from dra_api.transport import TransportError
from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.api import Api
from dra_scheduler.client.connection import discover_patiently
from dra_scheduler.client.discovery import Version, discover
from dra_scheduler.client.errors import ApiStatusError, NoResourceApiError, ResponseError, UnauthorizedError
from support.scripted import Scripted

GROUP = "GET /apis/resource.k8s.io"
CLAIMS = ("deviceclasses", "resourceclaims", "resourceclaims/status", "resourceslices")


def server(minor: str, versions: dict[str, tuple[str, ...]], major: str = "1") -> Scripted:
    answers: dict[str, Any] = {
        "GET /version": {"major": major, "minor": minor, "gitVersion": f"v{major}.{minor}.2"},
        GROUP: {"kind": "APIGroup", "versions": [{"version": version} for version in versions]},
    }
    for version, resources in versions.items():
        answers[f"{GROUP}/{version}"] = {"resources": [{"name": name} for name in resources]}
    return Scripted(answers)


@pytest.mark.parametrize(
    ("minor", "versions", "chosen", "taint_rules"),
    [
        ("37", {"v1": (*CLAIMS, "devicetaintrules"), "v1beta2": CLAIMS}, "v1", "v1"),
        ("36", {"v1": CLAIMS, "v1alpha3": ("devicetaintrules",)}, "v1", "v1alpha3"),
        ("34+", {"v1alpha3": ("devicetaintrules",), "v1": CLAIMS, "v1beta1": CLAIMS}, "v1", "v1alpha3"),
        ("33", {"v1beta1": CLAIMS, "v1beta2": CLAIMS}, "v1beta2", None),
        ("32", {"v1beta1": CLAIMS}, "v1beta1", None),
        ("31", {"v1alpha3": (*CLAIMS, "podschedulingcontexts")}, "v1alpha3", None),
    ],
)
async def test_the_best_version_with_claims_is_taken_and_taint_rules_apart(
    minor: str, versions: dict[str, tuple[str, ...]], chosen: str, taint_rules: str | None
) -> None:
    served = await discover(Api(server(minor, versions)))
    assert (served.resource_version, served.taint_rule_version) == (chosen, taint_rules)
    assert served.server == Version(1, int(minor.removesuffix("+")))
    assert "resourceclaims" in served.resources


async def test_without_the_group_the_message_says_how_to_switch_it_on() -> None:
    transport = server("33", {})
    del transport.answers[GROUP]
    with pytest.raises(NoResourceApiError, match=r"Dynamic Resource Allocation is off.*--runtime-config"):
        await discover(Api(transport))


async def test_versions_without_claims_or_that_we_do_not_know_are_named() -> None:
    versions: dict[str, tuple[str, ...]] = {"v2": CLAIMS, "v1alpha3": ("devicetaintrules",)}
    with pytest.raises(NoResourceApiError, match=r"serves resource.k8s.io in v2, v1alpha3, but none"):
        await discover(Api(server("50", versions)))


async def test_an_address_that_is_no_api_server_s_is_told() -> None:
    with pytest.raises(ResponseError, match="is this address an API server's"):
        await discover(Api(Scripted({"GET /version": {"hello": "world"}})))
    with pytest.raises(ResponseError, match="not JSON"):
        await discover(Api(Scripted({"GET /version": (200, b"<html>")})))


def test_an_api_server_that_comes_later_is_waited_for_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def main(clock: VirtualClock) -> None:
        transport = server("37", {"v1": CLAIMS})
        good = transport.answers["GET /version"]
        assert isinstance(good, dict)
        transport.answers["GET /version"] = [
            *[TransportError("refused", sent=False)] * 8,
            (403, {"kind": "Status", "code": 403}),
            (401, {"kind": "Status", "code": 401}),
            (403, {"kind": "Status", "code": 403}),
            good,
        ]
        served = await discover_patiently(Api(transport), random.Random(1))
        assert served.resource_version == "v1"
        assert 5 < clock.monotonic() < 60
        assert [record.getMessage() for record in caplog.records] == [
            "API server not reachable, waiting for it error=refused"
        ]

    run_virtual(main)


def test_a_server_that_is_not_ready_or_forbids_to_ask_is_told_and_waited_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(clock: VirtualClock) -> None:
        transport = server("37", {"v1": CLAIMS})
        good = transport.answers["GET /version"]
        assert isinstance(good, dict)
        sick, forbidden = {"kind": "Status", "code": 503}, {"kind": "Status", "code": 403}
        transport.answers["GET /version"] = [(503, sick), (503, sick), (403, forbidden), (403, forbidden), good]
        await discover_patiently(Api(transport), random.Random(1))
        first, second = (record.getMessage() for record in caplog.records)
        assert first.startswith("API server not ready")
        assert "system:discovery" in second

    run_virtual(main)


def test_a_token_rejected_long_after_the_server_came_back_is_an_error() -> None:
    async def main(clock: VirtualClock) -> None:
        rejected = (401, {"kind": "Status", "code": 401, "reason": "Unauthorized"})
        answers = {"GET /version": [TransportError("refused", sent=False), rejected]}
        with pytest.raises(UnauthorizedError):
            await discover_patiently(Api(Scripted(answers)), random.Random(1))  # type: ignore[arg-type]
        assert 30 < clock.monotonic() < 40

    run_virtual(main)


def test_a_rejected_token_and_patience_that_ends_are_errors() -> None:
    async def main(clock: VirtualClock) -> None:
        rejected = {"kind": "Status", "code": 401, "reason": "Unauthorized", "message": "Unauthorized"}
        with pytest.raises(UnauthorizedError):
            await discover_patiently(Api(Scripted({"GET /version": (401, rejected)})), random.Random(1))
        down = Scripted({"GET /version": TransportError("down")})
        with pytest.raises(TransportError):
            await discover_patiently(Api(down), random.Random(1), patience=30)
        assert clock.monotonic() <= 30
        sick = Scripted({"GET /version": (500, b"")})
        with pytest.raises(ApiStatusError):
            await discover_patiently(Api(sick), random.Random(1), patience=3)

    run_virtual(main)
