import pytest

from dra_cel import CompileError, CostLimitExceeded, EvaluationError, compile_selector
from support.cel_devices import DEVICES, A, outcomes

FORTY = [
    ('device.driver == "gpu.example.com"', "TTFT"),
    ('$A.model == "A100"', "TFFE"),
    ('$A.model in ["A100","H100"]', "TTFE"),
    ("$A.ecc", "TFEE"),
    ("$A.model", "EEEE"),
    ("$A.index < 0.5", "TFEE"),
    ("$A.index == 0u", "TFEE"),
    ("$A.model == 5", "FFFE"),
    ("$A.model > 5", "EEEE"),
    ("10 / $A.index > 1", "ETEE"),
    ("$A.index + 1.0 == 1.0", "EEEE"),
    ('"nosuch.example.com" in device.attributes', "FFFF"),
    ("has(device.attributes.foo)", "TTTT"),
    ('device.attributes[?"nosuch.example.com"].hasValue()', "TTTT"),
    ('device.attributes["nosuch.example.com"].x == "x"', "EEEE"),
    ('has($A.model) && $A.model == "A100"', "TFFF"),
    ('$A.nosuch == 1 || device.driver == "gpu.example.com"', "TTET"),
    ('$A.nosuch == 1 && device.driver == "other"', "FFFF"),
    ("!($A.nosuch == 1)", "EEEE"),
    ("$A.model && false", "FFFF"),
    ("$A.ecc ? true : $A.nosuch", "TEEE"),
    ("$A.?ecc.orValue(false)", "TFFF"),
    ("$A.?index.or($A.?numa).orValue(9) == 0", "TFFF"),
    ('$C.memory == quantity("81920Mi")', "TFEE"),
    ('has($C.memory) && $C.memory.compareTo(quantity("40Gi")) >= 0', "TTFF"),
    ('$C.memory > quantity("40Gi")', "CCCC"),
    ('dyn($C.memory) == "80Gi"', "EEEE"),
    ('"80Gi" == dyn($C.memory)', "FFEE"),
    ('$A.driverVersion == semver("535.104.5+build7")', "TFEE"),
    ('$A.driverVersion.compareTo(semver("550.54.15")) < 0', "TTEE"),
    ('$A.driverVersion != "535.104.5"', "TTEE"),
    ('$A.driverVersion in ["535.104.5"]', "EEEE"),
    ('$A.model.matches("^[")', "CCCC"),
    ('$A.nics.exists(n, n == "n1")', "TEEE"),
    ('$A.exists(k, v, v == "A100")', "TEFF"),
    ('$A.exists_one(k, $A[k] == "A100")', "EEFF"),
    ('[$A.model, "H100"].exists(m, m == "H100")', "CCCC"),
    ("$A.model in []", "FFFF"),
    ("9223372036854775807 + 1 > 0", "EEEE"),
]


@pytest.mark.parametrize(("text", "expected"), FORTY)
def test_selects_as_kubernetes_does(text: str, expected: str) -> None:
    assert outcomes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1,2].exists(i, 10/(i-1) > 0)", "TTTT"),
        ("[1,2].exists(i, 10/(i-1) > 100)", "EEEE"),
        ("[0,1].all(i, 10/i > 100)", "FFFF"),
        ("[0,1].exists_one(i, 10/i > 1)", "EEEE"),
        ("[0,1].map(i, 10/i).size() == 2", "EEEE"),
        ("[1,2,3].filter(i, i > 1) == [2,3]", "TTTT"),
        ("[1,2,3].map(i, i > 1, i * 2) == [4,6]", "TTTT"),
        ("{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}", "TTTT"),
        ("[1,2].transformMapEntry(i, v, {v: i}) == {1: 0, 2: 1}", "TTTT"),
        ("[1,1].transformMapEntry(i, v, {v: i}).size() == 1", "EEEE"),
        ("[5,7].transformList(i, v, i > 0, v + i) == [8]", "TTTT"),
        ("cel.bind(x, 1/0, true)", "TTTT"),
        ("cel.bind(x, 1/0, x == 1 || true)", "TTTT"),
        ("cel.bind(x, 2, cel.bind(y, x + x, y * y)) == 16", "TTTT"),
        ("{1: 2}[dyn(1u)] == 2 && {1u: 2}[dyn(1.0)] == 2 && !(dyn(true) in {1: 2})", "TTTT"),
        ("9007199254740993 > 9007199254740992.0", "FFFF"),
        ("dyn(-1) == dyn(18446744073709551615u)", "FFFF"),
        ("!(0.0/0.0 < 1.0)", "EEEE"),
        ("-7 / 2 == -3 && -7 % 3 == -1", "TTTT"),
        ("(-9223372036854775807 - 1) / -1 > 0", "EEEE"),
        ("string(1000000.0) == '1e+06' && string(100000.0) == '100000' && string(0.1) == '0.1'", "TTTT"),
        ("int('12') == 12 && int(1.9) == 1 && int(-1.9) == -1 && double('1.5') == 1.5", "TTTT"),
        ("int('0x1') == 1", "CCCC"),
        ("uint(-1) > 0u", "CCCC"),
        ("google.protobuf.Int64Value{value: 1} == 1", "TTTT"),
        ("google.protobuf.Int32Value{value: 5000000000} == 5", "EEEE"),
        ("google.protobuf.Struct{} == {}", "CCCC"),
        ("type(1) == int && type(device) == map && type(optional.none()) == optional_type", "TTTT"),
        ("[?optional.none(), ?optional.of(1)] == [1]", "TTTT"),
        ("{?'a': optional.none(), ?'b': optional.of(1)} == {'b': 1}", "TTTT"),
        ("optional.ofNonZeroValue(0).hasValue() || optional.of(0).value() == 1", "FFFF"),
        ("[optional.of(1), optional.none()].unwrapOpt() == [1] && [1].first().value() == 1", "TTTT"),
        ("optional.none().value() == 1", "EEEE"),
        ("'abc'.replace('', '-') == '-a-b-c-' && 'a,b,c'.split(',', 2) == ['a', 'b,c']", "TTTT"),
        ("'hello'.substring(1, 3) == 'el' && 'x'.charAt(1) == ''", "TTTT"),
        ("'hello'.substring(3, 1) == ''", "EEEE"),
        ("'hello'.lastIndexOf('l', 2) == 2 && 'hello'.indexOf('', 9) == 5", "TTTT"),
        ("'A1b2'.findAll('[0-9]') == ['1', '2'] && 'A1b2'.find('[a-z]') == 'b'", "TTTT"),
        ("['a', 'b'].join('-') == 'a-b' && ' a\u00a0'.trim() == 'a'", "TTTT"),
        ("duration('90m') == duration('1h30m') && timestamp('2024-02-29T00:00:00Z') < timestamp(2000000000)", "TTTT"),
        ("string(timestamp(0)) == '1970-01-01T00:00:00Z' && string(duration('1500ms')) == '1.5s'", "TTTT"),
        ("quantity('1').add(1) == quantity('2') && quantity('1.0').isInteger() == false", "TTTT"),
        ("semver('1.2.3').major() + semver('v1.2', true).minor() == 3", "TTTT"),
        ("has($A.model.foo)", "FFFE"),
        ("$A.?model.?foo.orValue(1) == 1", "TTTT"),
        ("dyn(b'a') in ['a']", "EEEE"),
        ("1.0 in [dyn(1)] && !(dyn(1.5) in [1, 2]) && dyn(1u) in [1.0]", "TTTT"),
    ],
)
def test_evaluates_by_cels_rules(text: str, expected: str) -> None:
    assert outcomes(text) == expected


def test_an_error_names_the_cause_and_the_expression() -> None:
    selector = compile_selector(f"{A}.nosuch == 1")
    with pytest.raises(EvaluationError, match=r"no such key: nosuch \(in 'device"):
        selector.matches(DEVICES[0])


def test_a_result_that_is_no_bool_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="CEL result of type string could not be converted to bool"):
        compile_selector(f"{A}.model").matches(DEVICES[0])


def test_stops_at_the_cost_limit_and_does_not_absorb_it() -> None:
    text = "[1,2,3,4,5,6,7,8,9,10]"
    nested = "x > 0"
    for variable in "abcdefg":
        nested = f"{text}.all({variable}, {nested})"
    selector = compile_selector(f"{text}.all(x, {nested}) || true")
    with pytest.raises(CostLimitExceeded, match="actual cost limit exceeded"):
        selector.matches(DEVICES[3])


@pytest.mark.parametrize(
    "text",
    [
        "cel.bind(a, 'x'.replace('', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyy'), "
        + "a.replace('y', a).replace('y', a).replace('y', a).replace('y', a).replace('y', a).size() > 0)",
        "".join(f"cel.bind(v{i + 1}, v{i} + v{i}, " for i in range(60)).replace("v0", "'xxxxxxxxxx'")
        + "v60 != ''"
        + ")" * 60,
        "".join(f"cel.bind(v{i + 1}, v{i} + v{i}, " for i in range(60)).replace("v0", "[1]") + "v60 != []" + ")" * 60,
    ],
)
def test_refuses_to_build_values_that_exhaust_memory(text: str) -> None:
    with pytest.raises(CostLimitExceeded):
        compile_selector(text).matches(DEVICES[3])


def test_evaluates_the_deepest_legal_expressions() -> None:
    assert outcomes("!(" * 248 + "true" + ")" * 248) == "TTTT"
    assert outcomes("+".join(["1"] * 249) + " == 249") == "TTTT"
    assert outcomes("[" * 240 + "]" * 240 + " == [1]".replace("1", "[" * 239 + "]" * 239)) == "TTTT"
    assert outcomes("optional.of(1)" + ".optMap(x, x)" * 12 + ".hasValue()") == "TTTT"


def test_new_expressions_follow_the_gates() -> None:
    loop = "$A.nics.exists(n, n == 'n1')"
    assert outcomes(loop, new_expression=True) == "TEEE"
    assert outcomes(loop, new_expression=True, list_attributes=False) == "CCCC"
    sharing = "device.allowMultipleAllocations"
    assert outcomes(sharing, new_expression=True) == "FTFF"
    assert outcomes(sharing, new_expression=True, consumable_capacity=False) == "CCCC"
    assert outcomes("dyn(true)", new_expression=True, list_attributes=False) == "CCCC"
    mixed = "[dyn(1), $A.index].size() == 2"
    assert outcomes(mixed, new_expression=True) == "TTEE"
    assert outcomes(mixed, new_expression=True, list_attributes=False) == "CCCC"


def test_a_selector_knows_its_text() -> None:
    assert compile_selector("true").text == "true"
    with pytest.raises(CompileError, match="must evaluate to bool or the unknown type, not int"):
        compile_selector("1")
