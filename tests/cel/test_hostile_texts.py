"""The largest and deepest texts: the work grows with the text, not faster. Work is counted in calls, not in time."""

from __future__ import annotations

import contextlib
import cProfile
from collections.abc import Callable

import pytest

from dra_cel.errors import CompileError
from dra_cel.parser import MAX_BYTES
from dra_cel.selector import compile_selector

A = 'device.attributes["d"]'

Shape = Callable[[int], str]

LONG: dict[str, Shape] = {
    "terms": lambda n: "||".join(["1==1"] * n),
    "attributes": lambda n: "&&".join([f'{A}.a=="b"'] * n),
    "a sum": lambda n: "+".join(["1"] * n) + "==1",
    "a sum of dynamic values": lambda n: "+".join([f"{A}.a"] * n) + "==1",
    "a list of numbers": lambda n: "1 in [" + ",".join(["1"] * n) + "]",
    "a list of lists": lambda n: "[" + ",".join(["[]"] * n) + "]==[]",
    "a map": lambda n: "{" + ",".join([f"{key}:1" for key in range(n)]) + "}=={}",
    "lists in lists, many": lambda n: "[" + ",".join(["[" * 100 + "]" * 100] * n) + "]==[]",
    "chains of fields, many": lambda n: "||".join(["dyn(1)" + ".a" * 240 + "==1"] * n),
    "chains of optional values, many": lambda n: "||".join(
        ["optional.of(1)" + ".optMap(x,x)" * 30 + ".hasValue()"] * n
    ),
    "unknown names": lambda n: "||".join(["true"] * n) + "||nosuch",
    "blanks": lambda n: " " * n + "true",
    "comments": lambda n: "//a\n" * n + "true",
    "closing brackets": lambda n: "}" * n,
    "negations": lambda n: "!" * n + "true",
    "digits": lambda n: "1" * n,
    "a long name": lambda n: "a" * n,
    "a long function": lambda n: "startsWit" + "h" * n + '("a")',
}
DEEP: dict[str, Shape] = {
    "lists": lambda n: "[" * n + "1" + "]" * n + "==1",
    "empty lists compared": lambda n: "[" * n + "]" * n + "==" + "[" * n + "]" * n,
    "brackets": lambda n: "(" * n + "true" + ")" * n,
    "conditions": lambda n: "true?" * n + "true" + ":true" * n,
    "fields": lambda n: "dyn(1)" + ".a" * n + "==1",
    "optional fields": lambda n: "dyn(1)" + ".?a" * n + "==1",
    "indices": lambda n: "dyn(1)" + "[0]" * n + "==1",
    "calls": lambda n: '"a"' + ".trim()" * n + '=="a"',
    "loops over loops": lambda n: "[1]" + ".map(x,x)" * n + "==[1]",
    "loops in loops": lambda n: "[1].exists(x," * n + "true" + ")" * n,
    "loops that sort": lambda n: "[1]" + ".sortBy(x,x)" * n + "==[1]",
    "optional values": lambda n: "optional.of(1)" + ".optMap(x,x)" * n + ".hasValue()",
    "optional values in each other": lambda n: "optional.of(1).optMap(x," * n + "x" + ")" * n + "==optional.none()",
    "variables": lambda n: "cel.bind(x,1," * n + "true" + ")" * n,
    "variables that double": lambda n: (
        "cel.bind(x0,1," + "".join([f"cel.bind(x{i},[x{i - 1},x{i - 1}]," for i in range(1, n)]) + "true" + ")" * n
    ),
    "texts that double": lambda n: 'cel.bind(a,"x",' + "cel.bind(a,a+a," * n + "a==a" + ")" * (n + 1),
}


def work(text: str) -> int:
    """Return how many calls it takes to compile a text, to estimate its cost and to plan its columns."""
    profile = cProfile.Profile()
    with profile, contextlib.suppress(CompileError):
        selector = compile_selector(text)
        assert selector.estimated_cost >= 0
        assert selector.reads is None or selector.reads is not None
    return sum(entry.callcount for entry in profile.getstats())


def fitting(shape: Shape) -> int:
    """Return the largest size whose text is not longer than an expression may be."""
    low, high = 1, MAX_BYTES
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(shape(middle).encode()) <= MAX_BYTES else (low, middle - 1)
    return low


@pytest.mark.parametrize("shape", LONG.values(), ids=LONG.keys())
def test_compiling_a_text_twice_as_long_is_twice_the_work(shape: Shape) -> None:
    size = fitting(shape)
    work(shape(2))
    half, whole = work(shape(size // 2)), work(shape(size))
    assert whole <= 2.3 * half + 200
    assert whole <= 100 * MAX_BYTES


@pytest.mark.parametrize("shape", DEEP.values(), ids=DEEP.keys())
def test_compiling_a_text_twice_as_deep_is_twice_the_work(shape: Shape) -> None:
    work(shape(2))
    half, whole = work(shape(60)), work(shape(120))
    assert whole <= 2.3 * half + 200


@pytest.mark.parametrize("shape", DEEP.values(), ids=DEEP.keys())
@pytest.mark.parametrize("depth", [125, 200, 249, 250, 251, 1000])
def test_any_depth_compiles_or_is_a_compile_error(shape: Shape, depth: int) -> None:
    with contextlib.suppress(CompileError):
        compile_selector(shape(depth)).reads  # noqa: B018 - planning the columns is what is tested


@pytest.mark.parametrize(
    "pattern", ["(" * 1001 + ")" * 1001, "\\pL" * 201, "((a{1,100}){1,10})" * 100, "(a|b){1,1000}" * 700]
)
def test_patterns_that_take_long_to_compile_are_refused(pattern: str) -> None:
    with pytest.raises(CompileError, match="error parsing regexp"):
        compile_selector(f'device.driver.matches(r"{pattern}")')


@pytest.mark.parametrize("pattern", ["(" * 999 + ")" * 999, "[(]" * 1500, r"\(" * 1500, "\\pL" * 20])
def test_patterns_within_the_limits_compile(pattern: str) -> None:
    compile_selector(f'device.driver.matches(r"{pattern}")')


@pytest.mark.parametrize("depth", [100, 200, 249])
def test_brackets_in_sums_may_be_deeper_than_kubernetes_parses_them(depth: int) -> None:
    """Kubernetes' parser spends two levels on each and stops between 100 and 200; what it refuses is never stored."""
    assert compile_selector("(1+" * depth + "1" + ")" * depth + "> 0").reads == frozenset()
    with pytest.raises(CompileError, match="recursion limit"):
        compile_selector("(1+" * 251 + "1" + ")" * 251 + "> 0")
