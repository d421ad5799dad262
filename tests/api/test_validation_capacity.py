"""The API server's rules for the request policies of capacities."""

from __future__ import annotations

from typing import Any

import pytest

from dra_allocator.features import Features
from dra_api.validation import Rules, validate_object
from support.dra_objects import slice_of

Obj = dict[str, Any]


def policy_errors(policy: Obj, value: str = "10", fractional: bool = False) -> list[str]:
    device = {
        "name": "a",
        "allowMultipleAllocations": True,
        "capacity": {"m": {"value": value, "requestPolicy": policy}},
    }
    found = validate_object(slice_of(device), Rules(Features(fractional_capacity_range=fractional)))
    return [str(error).removeprefix("spec.devices[0].capacity[m].requestPolicy") for error in found]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, []),
        ({"default": "5", "validValues": ["1", "5"]}, []),
        ({"validValues": ["1"]}, [".default: Required value: required when validValues is defined"]),
        (
            {"default": "2", "validValues": ["3", "1", "1000m", "11"]},
            [
                '.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
                '.validValues[3]: Invalid value: "11": option is larger than capacity value: 10',
                '.validValues[2]: Duplicate value: "1"',
                '.validValues: Invalid value: "2": default value is not valid according to the requestPolicy',
            ],
        ),
        (
            {"default": "1", "validValues": ["1"], "validRange": {"min": "1"}},
            [
                ': Forbidden: exactly one policy can be specified, cannot specify "validValues" and '
                '"validRange" at the same time'
            ],
        ),
        ({"validRange": {"min": "1"}}, [".default: Required value: required when validRange is defined"]),
        ({"default": "1", "validRange": {}}, [".validRange.min: Required value: required when validRange is defined"]),
        (
            {"default": "1", "validRange": {"min": "2", "max": "1"}},
            [
                '.validRange.default: Invalid value: "1": default is less than min: 2',
                '.validRange.max: Invalid value: "2": min is larger than max: 1',
            ],
        ),
        (
            {"default": "12", "validRange": {"min": "11", "max": "11", "step": "0"}},
            [
                '.validRange.min: Invalid value: "11": min is larger than capacity value: 10',
                '.validRange.max: Invalid value: "11": max is larger than capacity value: 10',
                '.validRange.default: Invalid value: "12": default is more than max: 11',
                '.validRange.step: Invalid value: "0": must be greater than zero',
            ],
        ),
        (
            {"default": "4", "validRange": {"min": "1", "max": "9", "step": "2"}},
            ['.validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)'],
        ),
        (
            {"default": "9", "validRange": {"min": "9", "step": "2"}},
            ['.validRange.step: Invalid value: "2": one step 11 is larger than capacity value: 10'],
        ),
        (
            {"default": "-1", "validRange": {"min": "-1", "step": "1"}},
            [
                '.validRange.default: Invalid value: "-1": must be greater than or equal to 0',
                '.validRange.min: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
    ],
)
def test_a_request_policy_is_checked(policy: Obj, expected: list[str]) -> None:
    assert policy_errors(policy) == expected


def test_fractional_ranges_are_checked_in_thousandths_with_the_gate_on() -> None:
    policy = {"default": "1500m", "validRange": {"min": "500m", "step": "500m"}}
    assert policy_errors(policy, fractional=True) == []
    assert policy_errors(policy | {"default": "1600m"}, fractional=True) == [
        '.validRange.step: Invalid value: "1600m": value is not a multiple of a given step (500m) from (500m)'
    ]
    assert policy_errors(policy | {"default": "1500001u"}, fractional=True) == [
        '.validRange.default: Invalid value: "1500001u": value cannot be represented as a milli value'
    ]
