import pytest

from dra_cel import CompileError, compile_selector


@pytest.mark.parametrize(
    ("text", "column", "message", "suggestion"),
    [
        ("1 == 1.0", 3, "found no matching overload for '_==_' applied to '(int, double)'", None),
        ("device.foo == 1", 7, "undefined field 'foo'", None),
        ("device.atributes == 1", 7, "undefined field 'atributes'", "attributes"),
        ("devise.driver == 'x'", 1, "undeclared reference to 'devise'", "device"),
        ("quantty('1') == quantity('1')", 8, "undeclared reference to 'quantty'", "quantity"),
        ("device.driver.startWith('a')", 24, "undeclared reference to 'startWith'", "startsWith"),
        ("optional.off(1).hasValue()", 1, "undeclared reference to 'optional'", "optional.of"),
        ("device.driver.startsWith(1)", 25, "applied to 'string.(int)'", None),
        (
            "device.capacity['a'].b > quantity('1')",
            24,
            "'(kubernetes.Quantity, kubernetes.Quantity)'",
            "a.compareTo(b), a.isGreaterThan(b) or a.isLessThan(b)",
        ),
        ("device.capacity['a'].b == 5", 24, "'(kubernetes.Quantity, int)'", 'quantity("...") on both sides'),
        ("1 && true", 1, "expected type 'bool' but found 'int'", None),
        ("[1, 'a'].size() == 2", 5, "expected type 'int' but found 'string'", None),
        ("{'a': 1, 'b': 'x'}.size() == 2", 15, "expected type 'int' but found 'string'", None),
        ("[dyn(1), 'a'].size() == 2", 10, "expected type 'dyn' but found 'string'", None),
        ("device.driver.x == 1", 14, "type 'string' does not support field selection", None),
        ("device.driver.exists(x, true)", 7, "cannot be range of a comprehension", None),
        ("[1].exists(x, x)", 15, "expected type 'bool' but found 'int'", None),
        ("[1].exists(x, y == 1)", 15, "undeclared reference to 'y'", None),
        ("true ? 1 : 'a'", 6, "'(bool, int, string)'", None),
        ("duration('bad') == duration('1s')", 10, "invalid duration argument", None),
        ("timestamp('bad') == timestamp(1)", 11, "invalid timestamp argument", None),
        ("device.driver.matches('[')", 23, "invalid matches argument", None),
        ("google.protobuf.Struct{} == {}", 23, "not supported yet", None),
        ("nosuch.Type{} == 1", 12, "undeclared reference to 'nosuch.Type'", None),
        ("google.protobuf.Int64Value{valu: 1} == 1", 32, "undefined field 'valu'", "value"),
        ("null", 1, "must evaluate to bool or the unknown type, not null_type", None),
    ],
)
def test_names_what_is_wrong_and_where(text: str, column: int, message: str, suggestion: str | None) -> None:
    with pytest.raises(CompileError) as caught:
        compile_selector(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)
    assert caught.value.suggestion == suggestion
    if suggestion:
        assert f"did you mean {suggestion!r}" in str(caught.value)


def test_refuses_types_that_double_with_every_literal() -> None:
    text = "cel.bind(a, {1: 1}, " + "cel.bind(a, {a: a}, " * 100 + "true" + ")" * 101
    with pytest.raises(CompileError, match="more than 10000 parts"):
        compile_selector(text)


@pytest.mark.parametrize(
    "text",
    [
        "[] == [1]",
        "[[]] == [[1]]",
        "optional.none() == optional.of(1)",
        "[].map(x, x) == ['a']",
        "{}.exists(k, k == 1)",
        "dyn(1) + dyn('a') == 1",
        "null == quantity('1')",
        "google.protobuf.Int64Value{} == null",
        "cel.bind(x, [], x == [1] && x == ['a'])".replace(" && x == ['a']", ""),
        "lists == 1 || true".replace("lists", "device.attributes.size()"),
        "[1, 2].exists(device, device == 2)",
    ],
)
def test_accepts_what_unifies(text: str) -> None:
    compile_selector(text)
