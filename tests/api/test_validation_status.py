"""The API server's rules for the status of claims."""

from __future__ import annotations

from typing import Any

import pytest

from dra_api.validation import validate_status_update
from support import dra_objects
from support.dra_objects import UID

Obj = dict[str, Any]


REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


def claim() -> Obj:
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    return dra_objects.obj("ResourceClaim", spec, namespace="default", resourceVersion="1")


RESULT = {"request": "r", "driver": "d.example.com", "pool": "p/q", "device": "x"}
USER = {"resource": "pods", "name": "p", "uid": "u"}


def status(**fields: Any) -> Obj:
    return claim() | {"status": fields}


def allocation(*results: Obj, **fields: Any) -> Obj:
    return {"devices": {"results": list(results)} | fields}


def status_errors(new: Obj, old: Obj | None = None) -> list[str]:
    return [str(error) for error in validate_status_update(new, old or claim())]


def test_an_allocation_with_a_reservation_is_valid() -> None:
    config = [{"source": "FromClass", "requests": ["r"], "opaque": {"driver": "d", "parameters": {}}}]
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}
    new = status(allocation=allocation(RESULT, config=config) | {"nodeSelector": selector}, reservedFor=[USER])
    assert status_errors(new) == []


ALLOCATION = "status.allocation.devices"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (
            status(reservedFor=[USER]),
            ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
        ),
        (
            status(allocation=allocation(RESULT), reservedFor=[{"uid": "u"}, USER]),
            [
                "status.reservedFor[0].resource: Required value",
                "status.reservedFor[0].name: Required value",
                'status.reservedFor[1]: Duplicate value: "u"',
            ],
        ),
        (
            status(allocation=allocation(RESULT), reservedFor=[USER | {"uid": str(i)} for i in range(257)]),
            ["status.reservedFor: Too many: 257: must have at most 256 items"],
        ),
        (
            status(allocation=allocation(*[RESULT] * 33, config=[{}] * 65)),
            [
                f"{ALLOCATION}.results: Too many: 33: must have at most 32 items",
                f"{ALLOCATION}.config: Too many: 65: must have at most 64 items",
            ],
        ),
        (
            status(allocation=allocation(RESULT | {"request": "x", "driver": "", "pool": "", "device": "a.b"})),
            [
                f'{ALLOCATION}.results[0].request: Invalid value: "x": {REFERENCE}',
                f"{ALLOCATION}.results[0].driver: Required value",
                f"{ALLOCATION}.results[0].pool: Required value",
                f'{ALLOCATION}.results[0].device: Invalid value: "a.b": must not contain dots',
            ],
        ),
        (
            status(allocation=allocation(RESULT | {"shareID": "1", "bindingConditions": ["a"]})),
            [
                f"{ALLOCATION}.results[0].bindingFailureConditions: Invalid value: []: bindingFailureConditions "
                "are required to "
                "use bindingConditions",
                f'{ALLOCATION}.results[0].shareID: Invalid value: "1": must be a UUID in its normal form, '
                "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` in lower case",
            ],
        ),
        (
            status(allocation=allocation(RESULT | {"skipNodeOperations": ["NodePrepareResources"]})),
            [
                f'{ALLOCATION}.results[0].skipNodeOperations: Invalid value: ["NodePrepareResources"]: '
                "NodePrepareResources "
                "cannot be skipped unless NodeUnprepareResources is also skipped"
            ],
        ),
        (
            status(allocation=allocation(config=[{"source": "FromHell"}])),
            [
                f'{ALLOCATION}.config[0].source: Unsupported value: "FromHell": supported values: "FromClaim", '
                '"FromClass"',
                f"{ALLOCATION}.config[0].opaque: Required value",
            ],
        ),
        (
            status(
                allocation={"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "a", "operator": "Gt"}]}]}}
            ),
            [
                "status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].operator: Invalid value: "
                '"Gt": not a valid '
                "selector operator",
                'status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "a": '
                "not a valid field "
                "selector key",
            ],
        ),
        (
            status(devices=[{"driver": "d.example.com", "pool": "p", "device": "x"}]),
            ['status.devices[0]: Invalid value: "d.example.com/p/x": must be an allocated device in the claim'],
        ),
        (
            status(
                allocation=allocation(RESULT | {"shareID": UID}),
                devices=[
                    {
                        "driver": "d.example.com",
                        "pool": "p/q",
                        "device": "x",
                        "shareID": UID,
                        "data": [],
                        "conditions": [{}],
                    }
                    | {
                        "networkData": {
                            "interfaceName": "x" * 257,
                            "ips": ["10.0.0.1", "10.00.0.1/8", "2001:DB8::1/64"],
                        }
                    }
                ],
            ),
            [
                "status.devices[0].conditions[0].type: Required value: is required",
                "status.devices[0].conditions[0].status: Required value",
                "status.devices[0].conditions[0].lastTransitionTime: Required value",
                "status.devices[0].conditions[0].reason: Required value",
                'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
                "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
                'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in '
                "CIDR form, (e.g. "
                "10.9.8.7/24 or 2001:db8::1/64)",
                'status.devices[0].networkData.ips[1]: Invalid value: "10.00.0.1/8": must be a valid address '
                "in CIDR form, "
                "(e.g. 10.9.8.7/24 or 2001:db8::1/64)",
                'status.devices[0].networkData.ips[2]: Invalid value: "2001:DB8::1/64": must be in canonical form '
                '("2001:db8::1/64")',
            ],
        ),
    ],
)
def test_a_status_that_breaks_a_rule_gets_the_servers_error(new: Obj, expected: list[str]) -> None:
    assert status_errors(new) == expected


def test_an_allocation_can_be_cleared_but_not_changed() -> None:
    old = status(allocation=allocation(RESULT))
    assert status_errors(claim(), old) == []
    changed = status_errors(status(allocation=allocation(RESULT | {"device": "y"})), old)
    assert [text.split(": ")[0] for text in changed] == ["status.allocation"]
    assert changed[0].endswith(": field is immutable")


def test_a_claim_in_deletion_takes_no_new_users() -> None:
    new = status(allocation=allocation(RESULT), reservedFor=[USER, USER | {"uid": "v"}])
    new["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    old = status(allocation=allocation(RESULT), reservedFor=[USER, USER | {"uid": "v"}, USER | {"uid": "w"}])
    assert status_errors(new, old) == []
    assert status_errors(new, status(allocation=allocation(RESULT), reservedFor=[USER])) == [
        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or "
        "`deletionTimestamp` are "
        "set"
    ]
