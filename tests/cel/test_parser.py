import pytest

from dra_cel import CompileError
from dra_cel.ast import Call, Comprehension, Ident, ListExpr, Literal, MapExpr, Message, Node, Select
from dra_cel.parser import parse
from dra_cel.uint import UInt


def shape(node: Node) -> str:
    """Write a tree with explicit brackets."""
    match node:
        case Literal():
            return repr(node.value)
        case Ident():
            return node.name
        case Select():
            return f"{'has ' if node.test_only else ''}{shape(node.operand)}.{node.field}"
        case Call():
            target = f"{shape(node.target)}." if node.target else ""
            return f"{target}{node.function}({', '.join(map(shape, node.args))})"
        case ListExpr():
            items = ("?" * (i in node.optional) + shape(e) for i, e in enumerate(node.elements))
            return f"[{', '.join(items)}]"
        case MapExpr():
            return "{" + ", ".join(f"{shape(e.key)}: {shape(e.value)}" for e in node.entries) + "}"
        case Message():
            return node.name + "{" + ", ".join(f"{f.name}: {shape(f.value)}" for f in node.fields) + "}"
        case Comprehension():
            return f"loop({shape(node.iter_range)}, {node.iter_var}, {shape(node.step)})"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4", "_-_(_+_(1, _*_(2, 3)), 4)"),
        ("a < b == c", "_==_(_<_(a, b), c)"),
        ("a || b && c", "_||_(a, _&&_(b, c))"),
        ("a && b && c && d", "_&&_(_&&_(a, b), _&&_(c, d))"),
        ("a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"),
        ("!!a", "a"),
        ("!!!a", "!_(a)"),
        ("- a", "-_(a)"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1 - -1", "_-_(1, -1)"),
        ("a.b['c'].d(1)", "_[_](a.b, 'c').d(1)"),
        ("a.?b[?0]", "_[?_](_?._(a, 'b'), 0)"),
        ("a.`b-c/d`", "a.b-c/d"),
        ("x in [1, ?y,]", "@in(x, [1, ?y])"),
        ("{'a': 1, 2u: 0.5}", "{'a': 1, 2u: 0.5}"),
        ("google.protobuf.Int64Value{value: 1}", "google.protobuf.Int64Value{value: 1}"),
        ("has(a.b.c)", "has a.b.c"),
        ("a.exists(x, x > 1)", "loop(a, x, _||_(@result, _>_(x, 1)))"),
        ("cel.bind(x, 1, x + x)", "loop([], #unused, @result)".replace("@result", "x")),
        (r"'\u0041\x42\103\n' + r'\d' + '''a'b'''", r"_+_(_+_('ABC\n', '\\d'), " + '"a\'b")'),
        ("b'\\xff\\u0041'[0]", None),
        ("b'\\xff\\101'", "b'\\xffA'"),
        ("0x1F + 0x10u", "_+_(31, 16u)"),
        ("true // comment", "True"),
        ("null", "None"),
        (".a.b", ".a.b"),
    ],
)
def test_parses_by_cels_grammar(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(CompileError):
            parse(text)
    else:
        assert shape(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("?!", 1, 1, "Syntax error"),
        ("a +", 1, 4, "end of the expression"),
        ("a &&\n  b c", 2, 5, "Syntax error: unexpected 'c'"),
        ("!-device.driver", 1, 2, "Syntax error: unexpected '-', expected an expression"),
        ("[1, -]", 1, 6, "Syntax error: unexpected ']', expected an expression"),
        ("9223372036854775808", 1, 1, "invalid int literal"),
        ("18446744073709551616u", 1, 1, "invalid uint literal"),
        ("1e999", 1, 1, "invalid double literal"),
        ("a.in", 1, 3, "unexpected 'in'"),
        ("if", 1, 1, "reserved identifier: if"),
        ("'abc", 1, 1, "has no end"),
        ("'\\q'", 1, 1, "wrong escape"),
        ("'\\ud800'", 1, 1, "invalid unicode"),
        ("a # b", 1, 3, "unexpected character '#'"),
        ("has(a)", 1, 5, "has() takes a field selection"),
        ("a.all(1, true)", 1, 7, "must be a simple name"),
        ("a.all(x, x, true)", 1, 10, "duplicate variable name x"),
        ("[1, 2", 1, 6, "expected ','"),
    ],
)
def test_names_the_position_of_an_error(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message
    assert caught.value.excerpt().endswith("^")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 249 + "true" + ")" * 249,
        "!(" * 249 + "true" + ")" * 249,
        "+".join(["1"] * 250),
        "a" + ".b" * 249,
        "true ? true : " * 249 + "true",
        " && ".join(["true"] * 1000),
        "!" * 5000 + "true",
        "[1].exists(x," * 249 + "true" + ")" * 249,
    ],
)
def test_accepts_nesting_up_to_the_limit(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 250 + "true" + ")" * 250,
        "+".join(["1"] * 252),
        "a" + ".b" * 251,
        "true ? true : " * 250 + "true",
        "[" * 5000 + "]" * 5000,
    ],
)
def test_refuses_deeper_nesting(text: str) -> None:
    with pytest.raises(CompileError, match="recursion limit"):
        parse(text)


def test_refuses_more_than_ten_kibibytes() -> None:
    parse("'" + "x" * 10_238 + "'")
    with pytest.raises(CompileError, match="10241 bytes"):
        parse("'" + "x" * 10_239 + "'")
    with pytest.raises(CompileError, match="code points"):
        parse("'" + "x" * 200_000 + "'")


def test_uint_literals_are_told_apart_from_int() -> None:
    node = parse("7u")
    assert isinstance(node, Literal)
    assert type(node.value) is UInt
