from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_cel import (
    ColumnKey,
    DeviceColumns,
    DeviceFields,
    Masks,
    Quantity,
    Selector,
    Semver,
    compile_selector,
    value_key,
)
from dra_cel.columns import IntArray, field_value
from support.cel_devices import DEVICES, A, C, outcome


def letters(masks: Masks) -> str:
    """Write masks as one letter per row; at most one mask is set."""
    assert not (masks.match & masks.error).any()
    assert not (masks.match & masks.unknown).any()
    assert not (masks.error & masks.unknown).any()
    return "".join(
        "T" if match else "E" if error else "U" if unknown else "F"
        for match, error, unknown in zip(masks.match, masks.error, masks.unknown, strict=True)
    )


def scalar(selector: Selector, devices: Sequence[DeviceFields]) -> str:
    return "".join(outcome(selector.matches, device) for device in devices)


@pytest.mark.parametrize(
    ("text", "expected", "reads"),
    [
        ("true", "TTTT", set()),
        ("device.driver == 'gpu.example.com'", "TTFT", {"driver"}),
        ("$A.model == 'A100' && $C.memory.compareTo(quantity('40Gi')) >= 0", "TFFE", {"model", "memory"}),
        ("$A.nosuch == 1 && device.driver == 'other'", "FFFF", {"nosuch", "driver"}),
        ("!$A.ecc || device.allowMultipleAllocations", "FTEE", {"ecc", "sharing"}),
        ("$A.ecc ? $A.index == 0 : $A.numa == 1", "TEEE", {"ecc", "index", "numa"}),
        ("cel.bind(a, $A, a.model == 'A100' && a.index == 0)", "TFFE", {"model", "index"}),
        ("cel.bind(m, $A.model, m == 'A100' || m == 'H100')", "TTFE", {"model"}),
        ("has($A.model) && 'memory' in $C", "TTFF", {"model", "memory"}),
        ("$A.?index.or($A.?numa).orValue(9) == 0", "TFFF", {"index", "numa"}),
        ("$A.nics.exists(n, n == 'n1' && $A.index == 0)", "TEEE", {"nics", "index"}),
        ("has(device.attributes.foo) && has(device.driver)", "TTTT", set()),
        ("[1].exists(device, device == 1)", "TTTT", set()),
        ("$A.model", "EEEE", {"model"}),
    ],
)  # fmt: skip
def test_evaluates_columns_and_says_which_ones_it_reads(text: str, expected: str, reads: set[str]) -> None:
    selector = compile_selector(text.replace("$A", A).replace("$C", C))
    assert letters(selector.masks(DeviceColumns(DEVICES))) == expected
    assert selector.reads is not None
    assert {key.name.removeprefix("gpu.example.com/") or key.kind for key in selector.reads} == reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$A.exists(k, k == 'ecc')", "UUUU"),
        ("'gpu.example.com' in device.attributes", "UUUU"),
        ("device == device", "UUUU"),
        ("device.attributes[device.driver].model == 'A100'", "UUUU"),
        ("device.driver == 'nic.example.com' && $A.size() > 0", "FFUF"),
        ("device.driver == 'nic.example.com' || $A.size() > 0", "UUTU"),
        ("$A.ecc ? $A.size() > 0 : true", "UTEE"),
        ("!($A.size() > 0)", "UUUU"),
    ],
)
def test_leaves_unknown_what_reads_whole_maps(text: str, expected: str) -> None:
    selector = compile_selector(text.replace("$A", A))
    columns = DeviceColumns(DEVICES)
    assert letters(selector.masks(columns)) == expected
    assert selector.reads is None
    for row, letter in enumerate(scalar(selector, DEVICES)):
        assert outcome(selector.resolve, columns, row) == letter


def test_evaluates_only_the_rows_asked_for() -> None:
    selector = compile_selector(f"{A}.model == 'A100'")
    masks = selector.masks(DeviceColumns(DEVICES), np.array([3, 0, 0, 2]))
    assert letters(masks) == "ETTF"


def test_a_budget_leaves_the_rest_unknown_and_later_calls_go_on() -> None:
    devices = [DeviceFields("d", {"d/serial": f"s{index}", "d/n": index}) for index in range(30)]
    columns = DeviceColumns(devices)
    one = compile_selector('device.attributes["d"].serial.endsWith("7")')
    two = compile_selector('device.attributes["d"].serial == "s" + string(device.attributes["d"].n)')
    for selector in (one, two):
        assert letters(selector.masks(columns, evaluations=10)).count("U") == 20
        assert letters(selector.masks(columns, evaluations=15)).count("U") == 5
        assert letters(selector.masks(columns)) == scalar(selector, devices)
    assert letters(compile_selector(one.text).masks(columns, cost=20)).count("U") > 20


def test_what_costs_more_than_the_budget_stays_unknown_until_it_is_resolved() -> None:
    columns = DeviceColumns([DeviceFields("d", {"d/n": 1})])
    selector = compile_selector('lists.range(1000).all(x, x + device.attributes["d"].n > 0)')
    assert letters(selector.masks(columns, cost=500)) == "U"
    assert letters(selector.masks(columns)) == "T"
    assert selector.resolve(columns, 0)


@dataclass(eq=False)
class GrowingColumn:
    """A column whose values are appended, or renumbered with a new epoch."""

    codes: IntArray
    values: list[Any]
    epoch: int = 0


@dataclass
class GrowingTable:
    """A table of devices that can be changed row by row."""

    devices: list[DeviceFields]
    columns: dict[ColumnKey, GrowingColumn] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.devices)

    def fields(self, row: int) -> DeviceFields:
        return self.devices[row]

    def column(self, key: ColumnKey) -> GrowingColumn:
        if key not in self.columns:
            self.columns[key] = GrowingColumn(np.zeros(self.rows, np.int32), [None])
            for row in range(self.rows):
                self._encode(key, row)
        return self.columns[key]

    def replace(self, row: int, device: DeviceFields) -> None:
        self.devices[row] = device
        for key in self.columns:
            self._encode(key, row)

    def compact(self) -> None:
        for key, column in self.columns.items():
            column.values[1:] = []
            column.epoch += 1
            for row in reversed(range(self.rows)):
                self._encode(key, row)

    def _encode(self, key: ColumnKey, row: int) -> None:
        column = self.columns[key]
        value = field_value(self.devices[row], key)
        code = 0
        if value is not None:
            known = [value_key(other) for other in column.values]
            if value_key(value) not in known:
                column.values.append(value)
                known.append(value_key(value))
            code = known.index(value_key(value))
        column.codes[row] = code


VALUES = st.one_of(
    st.sampled_from([0, 1, -7, 2**63 - 1, True, False, "A100", "H100", "", "1", "é"]),
    st.sampled_from([Semver.parse(text) for text in ("1.0.0", "1.0.0+b", "2.3.4-rc.1")]),
    st.sampled_from([("a", "b"), (1, 2), (True,), ()]),
)
QUANTITIES = st.sampled_from(["0", "1", "1.0", "40Gi", "40960Mi", "80Gi", "500m"]).map(Quantity.parse)
NAMES = ["a", "b"]
DEVICE = st.builds(
    DeviceFields,
    st.sampled_from(["d", "e"]),
    st.dictionaries(st.sampled_from(["d/a", "d/b", "e/a"]), VALUES),
    st.dictionaries(st.sampled_from(["d/m"]), QUANTITIES),
    st.booleans(),
)
ATTRIBUTE = st.sampled_from([f'device.attributes["{d}"].{n}' for d in "de" for n in NAMES])
CONSTANT = st.sampled_from(["0", "1", "1u", "0.5", "true", '"A100"', '""', 'semver("1.0.0")', "[1, 2]", "null"])
LEAF = st.one_of(
    st.builds("{} == {}".format, ATTRIBUTE, CONSTANT),
    st.builds("{} != {}".format, ATTRIBUTE, CONSTANT),
    st.builds("{} == {}".format, CONSTANT.map("dyn({})".format), ATTRIBUTE),
    st.builds("{} < {}".format, ATTRIBUTE, st.sampled_from(["1", "0.5", '"B"', "true"])),
    st.builds("{} == {}".format, ATTRIBUTE, ATTRIBUTE),
    st.builds("{} in [{}]".format, ATTRIBUTE, st.sampled_from(["1, 0", '"A100", "1"', "true"])),
    st.builds("has({})".format, ATTRIBUTE),
    st.builds('"{}" in device.attributes["{}"]'.format, st.sampled_from(NAMES), st.sampled_from("de")),
    st.builds("10 / {} > 1".format, ATTRIBUTE),
    st.builds("{}.size() > 1".format, ATTRIBUTE),
    st.builds("{}.exists(x, x == {})".format, ATTRIBUTE, CONSTANT),
    st.builds('{}.compareTo(semver("1.5.0")) < 0'.format, ATTRIBUTE),
    ATTRIBUTE,
    st.just('device.attributes["d"].size() == 1'),
    st.just('device.capacity["d"].m.compareTo(quantity("40Gi")) >= 0'),
    st.just('device.capacity["d"].m.isInteger()'),
    st.just("device.allowMultipleAllocations"),
    st.just('device.driver == "d"'),
    st.just("true"),
)
EXPRESSION = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("!({})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner.map("dyn({})".format), inner.map("dyn({})".format)),
        st.builds('cel.bind(v, device.attributes["d"], v.a == 1 && ({}))'.format, inner),
        st.builds('cel.bind(w, device.attributes["d"].b, w == "A100" || ({}))'.format, inner),
    ),
    max_leaves=8,
)


def assert_agrees(selector: Selector, table: GrowingTable) -> None:
    for row, (seen, expected) in enumerate(
        zip(letters(selector.masks(table)), scalar(selector, table.devices), strict=True)
    ):
        assert seen in (expected, "U"), (selector.text, table.devices[row])
        assert (seen == "U") <= (selector.reads is None)
        assert outcome(selector.resolve, table, row) == expected


@settings(max_examples=60, deadline=None)
@given(EXPRESSION, st.lists(DEVICE, min_size=1, max_size=12), st.lists(DEVICE, max_size=4))
def test_columns_agree_with_single_devices(text: str, devices: list[DeviceFields], later: list[DeviceFields]) -> None:
    selector = compile_selector(text)
    table = GrowingTable(list(devices))
    assert_agrees(selector, table)
    for row, device in enumerate(later[: table.rows]):
        table.replace(row, device)
        one = letters(selector.masks(table, np.array([row])))
        assert one in (outcome(selector.matches, device), "U")
    assert_agrees(selector, table)
    table.compact()
    assert_agrees(selector, table)


def test_many_columns_of_many_values_need_no_table_of_all_combinations() -> None:
    names = "abcdefgh"
    devices = [DeviceFields("d", {f"d/{n}": (row * 7919 + ord(n)) % 211 for n in names}) for row in range(400)]
    text = " + ".join(f'device.attributes["d"].{n}' for n in names) + " > 700"
    selector = compile_selector(text)
    assert letters(selector.masks(DeviceColumns(devices))) == scalar(selector, devices)
