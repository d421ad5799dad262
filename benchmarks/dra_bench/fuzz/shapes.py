"""The worst selectors: every shape of expression at the limits of length and nesting.

The API server takes 10 KiB and 250 levels (`k8s.io/apiserver/pkg/cel`, cel-go's recursion limit).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

MAX_LENGTH = 10 * 1024
"""Bytes of an expression that the API server takes (resource.k8s.io/v1, CELSelectorExpressionMaxLength)."""
MAX_DEPTH = 250
"""Levels of nesting that the parser takes."""

A = 'device.attributes["d.io"]'
_NAMES = "abcdefghijklmnopqrstuvwxyz"


def nested(opening: str, core: str, closing: str, depth: int) -> str:
    """Return a core inside `depth` pairs."""
    return opening * depth + core + closing * depth


def filled(piece: str, joint: str, length: int = MAX_LENGTH, frame: tuple[str, str] = ("", "")) -> str:
    """Return as many pieces as fit into `length` characters, with joints between them and a frame around them."""
    room = length - len(frame[0]) - len(frame[1])
    count = max(1, (room + len(joint)) // (len(piece) + len(joint)))
    return frame[0] + joint.join([piece] * count) + frame[1]


def over(element: str, piece: str, joint: str, frame: tuple[str, str] = ("", "")) -> str:
    """Return as many pieces as fit, about a variable `x` whose type is that of the element."""
    return filled(piece, joint, frame=(f"[{element}].all(x,{frame[0]}", f"{frame[1]})"))


def _loops(macro: str, depth: int, core: str) -> str:
    """Macros inside each other over the same list: 60 elements each."""
    text = core
    for level in range(depth):
        text = f"lists.range(60).{macro}(v{level}, {text})"
    return text


def _filters(depth: int) -> str:
    text = "true"
    for level in range(depth):
        text = f"size(lists.range(60).filter(v{level}, {text})) > 0"
    return text


def _numbers(joint: str, frame: tuple[str, str]) -> str:
    numbers: list[str] = []
    length = len(frame[0]) + len(frame[1])
    while length < MAX_LENGTH - 8:
        numbers.append(str(len(numbers)))
        length += len(numbers[-1]) + len(joint)
    return frame[0] + joint.join(numbers) + frame[1]


def _different_sums() -> str:
    """Sums that have no part in common."""
    sums = ("+".join(map(str, range(start, start + 60))) + "==1" for start in range(100, 2_220, 60))
    return "||".join(sums)


def _doubling(steps: int) -> str:
    """A text that doubles at each step."""
    text = f"size(t{steps}) > 0"
    for step in range(steps, 0, -1):
        text = f"cel.bind(t{step}, t{step - 1} + t{step - 1}, {text})"
    return f'cel.bind(t0, "0123456789" + device.driver, {text})'


def _types_that_double(first: str, piece: str, joint: str, frame: tuple[str, str] = ("", "")) -> str:
    """Pieces about `x11` and `y11`, whose types have 4,096 parts each, most of them shared."""
    head = f"cel.bind(x0,{first},cel.bind(y0,{first},"
    for step in range(1, 12):
        for name in "xy":
            head += f"cel.bind({name}{step},{{{name}{step - 1}:{name}{step - 1}}},"
    return head + filled(piece, joint, MAX_LENGTH - len(head) - 24, frame) + ")" * 24


SHAPES: Mapping[str, Callable[[], str]] = {
    "parentheses": lambda: nested("(", "true", ")", 5_000),
    "parentheses at the limit": lambda: nested("(", "true", ")", MAX_DEPTH - 10),
    "negations": lambda: "!" * 10_000 + "true",
    "minus signs": lambda: "-" * 5_000 + "1 == 1",
    "lists in lists": lambda: nested("[", "1", "]", 240) + " == []",
    "maps in maps": lambda: nested("{1: ", "1", "}", 240) + " == {}",
    "calls in calls": lambda: nested("dyn(", "true", ")", 240),
    "fields of fields": lambda: filled("a", ".", frame=("dyn(device).", " == 1")),
    "indexes of indexes": lambda: "dyn([])" + "[0]" * 3_000 + " == 1",
    "ternaries to the right": lambda: filled("device.driver == 'a' ? true", " : ", frame=("", " : false")),
    "ternaries to the left": lambda: nested("(", "true", " ? true : false)", 240),
    "and": lambda: filled(f"{A}.b", " && "),
    "or": lambda: filled(f"{A}.?i.orValue(1) == 1", " || "),
    "and of different attributes": lambda: " && ".join(f"{A}.{x}_{y} == 1" for x in _NAMES[:10] for y in _NAMES[:24]),
    "or of values": lambda: " || ".join(f"{A}.i == {number}" for number in range(270)),
    "and of or": lambda: " && ".join(f"({A}.i == {number} || {A}.s == 'v{number}')" for number in range(128)),
    "not equal": lambda: filled("1 != 2", " == true != "),
    "sums": lambda: filled("1", " + ", frame=("", " == 1")),
    "sums of doubles": lambda: filled("1.5", " * ", frame=("", " > 0.0")),
    "sums of texts": lambda: filled("device.driver", " + ", frame=("", " == ''")),
    "sums of lists": lambda: filled("[1]", " + ", frame=("size(", ") == 1")),
    "text that doubles": lambda: _doubling(60),
    "text that doubles 20 times": lambda: _doubling(20),
    "replace that grows": lambda: '"' + "a" * 90 + '"' + '.replace("a", "aaaaaaaaaa")' * 9 + " == ''",
    "join that grows": lambda: "lists.range(1000).map(x, '" + "y" * 5_000 + "').join() == ''",
    "format that grows": lambda: "'%s'.format(['" + "y" * 5_000 + "']) == '' && '%.999999999f'.format([1.5]) == ''",
    "large list of numbers": lambda: _numbers(",", (f"{A}.i in [", "]")),
    "large list of texts": lambda: filled("'a'", ",", frame=(f"{A}.s in [", "]")),
    "large list, asked often": lambda: _numbers(",", ("lists.range(1000).all(x, x in [", "])")),
    "large map": lambda: "size({" + ",".join(f"{number}:{number}" for number in range(900)) + "}) == 0",
    "large text": lambda: "'" + "a" * (MAX_LENGTH - 20) + "' == device.driver",
    "escapes": lambda: "'" + "\\u00e4" * 1_700 + "' == device.driver",
    "loops, all": lambda: _loops("all", 4, "true"),
    "loops, exists": lambda: _loops("exists", 4, "false"),
    "loops, filter": lambda: _filters(3),
    "loops, map": lambda: "size(" + _loops("map", 3, "1") + ") == 0",
    "loops over what maps make": lambda: "lists.range(1000).map(x, lists.range(1000)).flatten().all(x, x >= 0)",
    "loops in 20 levels": lambda: _loops("all", 20, "true"),
    "loops in 200 levels": lambda: "".join(f"[1].all(v{n}, " for n in range(200)) + "true" + ")" * 200,
    "loops beside each other": lambda: filled("[1, 2].all(x, x > 0)", " && "),
    "loops over attributes": lambda: filled(f"{A}.all(k, v, k != '')", " && "),
    "long range": lambda: "lists.range(1000000000).all(x, true)",
    "sort": lambda: "lists.range(1000).map(x, 1000 - x).sort() == []",
    "distinct": lambda: "lists.range(1000).map(x, dyn([x])).distinct() == []",
    "flatten": lambda: nested("[", "1", "]", 200) + ".flatten(1000) == []",
    "split": lambda: "'" + "," * 9_000 + "'.split(',').size() == 0",
    "find all": lambda: "'" + "ab" * 4_000 + "'.findAll('a|b').size() == 0",
    "pattern with many repeats": lambda: "'" + "a" * 5_000 + "'.matches('(a*)*b')",
    "pattern with counted repeats": lambda: "device.driver.matches('((a{100}){100}){100}')",
    "pattern with optional parts": lambda: "'" + "a" * 300 + "'.matches('" + "a?" * 1000 + "a" * 1000 + "')",
    "pattern of classes": lambda: "device.driver.matches('" + "[a-zA-Z0-9_]" * 800 + "')",
    "pattern of alternatives": lambda: "device.driver.matches('" + "|".join(f"v{n}" for n in range(1500)) + "')",
    "pattern in parentheses": lambda: "device.driver.matches('" + nested("(", "a", ")", 2_000) + "')",
    "pattern of words": lambda: "device.driver.matches('" + r"\\pL*" * 1_500 + "')",
    "pattern made while running": lambda: "lists.range(500).all(x, device.driver.matches('(' + string(x) + '|a)*'))",
    "quantity of many digits": lambda: "sign(quantity('" + "9" * 10_000 + "')) == 0",
    "integer of many digits": lambda: "9" * 10_000 + " == 1",
    "double of many digits": lambda: "1." + "9" * 10_000 + " == 1.0",
    "int() of many digits": lambda: "int('" + "9" * 10_000 + "') == 1",
    "version of many digits": lambda: "semver('1.2." + "9" * 10_000 + "').major() == 1",
    "version of many parts": lambda: "semver('1.2.3-" + "a." * 4_900 + "b').major() == 1",
    "duration of many parts": lambda: "duration('" + "1h" * 5_000 + "') == duration('1h')",
    "network of many colons": lambda: "isIP('" + ":" * 10_000 + "')",
    "url of many parts": lambda: "isURL('http://a/" + "../" * 3_300 + "')",
    "url of a long query": lambda: "url('http://a/?" + "a=b&" * 2_500 + "').getQuery().size() == 0",
    "unknown names": lambda: filled("nosuch", " && "),
    "unknown functions": lambda: filled("device.driver.stratsWith('a')", " && "),
    "one long name": lambda: "a" * MAX_LENGTH,
    "open brackets": lambda: "([{" * 3_400,
    "closing brackets": lambda: "}])" * 3_400,
    "an open text": lambda: "'" + "a" * (MAX_LENGTH - 1),
    "a comment": lambda: "//" + "a" * (MAX_LENGTH - 2),
    "blanks": lambda: " " * MAX_LENGTH,
    "lines": lambda: "\n" * (MAX_LENGTH - 4) + "true",
    "optional fields": lambda: "dyn(device)" + ".?a" * 3_000 + ".hasValue()",
    "or of names": lambda: over("true", "x", " || "),
    "or of comparisons": lambda: over("dyn(1)", "x == x", "||"),
    "or of sums": lambda: filled("+".join(["1"] * 240) + "==1", "||"),
    "or of sums of different numbers": _different_sums,
    "or of sums of lists": lambda: filled("+".join(["[]"] * 240) + "==[]", "||"),
    "or of sums of dynamic values": lambda: over("dyn(1)", "+".join(["x"] * 240) + "==1", "||"),
    "or of long indexes": lambda: over("dyn(1)", "x" + "[0]" * 240 + "==1", "||"),
    "or of long fields": lambda: over("dyn(1)", "x" + ".?a" * 240 + "==x", "||"),
    "or of memberships": lambda: filled("1 in[1,2,3]", "||"),
    "types that double": lambda: _types_that_double("[1]", "x11 in [y11]", "||"),
    "types that double, of open lists": lambda: _types_that_double("[]", "x11 == y11", "||"),
    "list of types that double": lambda: _types_that_double("[]", "x11,y11", ",", ("[", "]==[]")),
    "list of empty lists": lambda: filled("[]", ",", frame=("[", "]==[]")),
    "list of lists of lists": lambda: filled("[[[]]]", ",", frame=("[", "]==[]")),
    "list of signs": lambda: over("1", "-x", ",", frame=("[", "]==[]")),
    "list of optional fields": lambda: over("dyn(1)", "x.?y", ",", frame=("[", "]==[]")),
    "list of maps": lambda: over("[1]", "x.map(y,y,y)", ",", frame=("[", "]==[]")),
    "list of quantities": lambda: filled("quantity('1')", ",", frame=("[", "]==[]")),
    "list of types": lambda: filled("int", ",", frame=("[", "]==[]")),
    "map of maps": lambda: filled("{1:{}}", ",", frame=("[", "]==[]")),
    "format of many": lambda: "'" + "%s" * 1_200 + "'.format([" + ",".join(["[]", "1", "''"] * 400) + "])==''",
    "loops after loops": lambda: over("[1]", "x" + ".map(y,y)" * 240 + "==x", "||"),
    "loops after loops over nothing": lambda: filled("[]" + ".map(y,y)" * 240 + "==[]", "||"),
    "loops in 120 levels, often": lambda: over("dyn([true])", "x.map(y," * 120 + "y" + ")" * 120 + "==x", "||"),
    "sorts after sorts": lambda: over("[1]", "x" + ".sortBy(y,y)" * 240 + "==x", "||"),
    "optional maps after each other": lambda: filled("optional.of(1)" + ".optMap(x,x)" * 240 + ".hasValue()", "||"),
    "bindings, often": lambda: filled("cel.bind(x,1," * 240 + "true" + ")" * 240, "||"),
    "pattern of not": lambda: "'a'.matches('" + "[^a]" * 2_500 + "')",
    "patterns": lambda: " || ".join(f"'a'.matches('(a{n}|b*){{1,9}}')" for n in range(300)),
    "optional maps": lambda: nested("optional.of(1).optMap(x, ", "1", ")", 80) + ".hasValue()",
    "bindings": lambda: "".join(f"cel.bind(x{n}, 1, " for n in range(200)) + "true" + ")" * 200,
}
"""By name: makes the expression."""
