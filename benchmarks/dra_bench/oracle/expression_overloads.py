"""More templates, in the notation of expression_templates.py: one for each overload that the plain ones rarely reach.

Comparisons of all types, accessors of times with and without a zone, functions of lists of each type that can be
sorted, conversions to the same type, values inside optionals, and functions on values whose type is not known.
"""

from __future__ import annotations

from itertools import permutations
from typing import Final

ORDERED: Final = ("bool", "int", "uint", "double", "string", "bytes", "duration", "timestamp")
"""Types with an order; `{uints}` is a list of uints."""
SUMMED: Final = ("int", "uint", "double", "duration")
"""Types with a sum."""
_OPERATORS = ("<", "<=", ">", ">=")
_TIME = ("Hours", "Minutes", "Seconds", "Milliseconds")
_CLOCK = ("FullYear", "Month", "DayOfYear", "DayOfMonth", "Date", "DayOfWeek", *_TIME)
_KEPT = ["int", "uint", "double", "string", "bool", "bytes", "duration", "timestamp", "dyn"]

LEAVES: Final = r"""
bool:
    bool("true")  bool("F")  bool("1")  bool("yes")  bool("tRUE")
comparison:
    true
clock:
    2025
zone:
    'UTC'  '+02:00'  '-08:30'  'Europe/Berlin'  'America/New_York'  ''  'Local'  'x'  '02:00'  '+2'  "Asia/Kolkata"
uints:
    [1u, 7u]  [3u, 2u, 3u]  [18446744073709551615u, 1u]
doubles:
    [0.5, -1.5]  [1.0, 1.0]  [double("NaN"), 1.0]  [1.0 / 0.0, -0.0]
bools:
    [true, false]  [false, true]  [ATTRS.?b.orValue(true)]
bytess:
    [b"a", b""]  [bytes("ä"), b"\xff"]
durations:
    [duration("1s"), duration("-1h")]  [duration("1ms")]  [duration("2562047h"), duration("2562047h")]
timestamps:
    [timestamp("2025-01-02T03:04:05Z"), timestamp(0)]  [timestamp("2025-12-31T23:59:59.5+01:00")]
iptext:
    "10.1.2.3"  "::1"  "10.0.0"  "::ffff:10.0.0.1"  "fe80::1%eth0"  "010.0.0.1"
cidrtext:
    "10.0.0.0/8"  "10.1.0.0/16"  "::/0"  "10.1.2.3/33"  "::ffff:10.0.0.0/100"  "10.1.2.3/16"
typename:
    int  uint  double  bool  string  bytes  list  map  null_type  type  google.protobuf.Timestamp
    google.protobuf.Duration  net.IP  net.CIDR  kubernetes.URL  kubernetes.Quantity  kubernetes.Semver
    kubernetes.NamedFormat  optional_type
lists:
    [[1, 7], [3]]  [[], [2]]  [[1], [1]]
optmap:
    optional.of(ATTRS)  device.?attributes["d.io"]  optional.none()  optional.of({"a": {"b": 1}})
int:
    0x1F  -0x10  -9223372036854775808
uint:
    0xFFu
double:
    1e3  .5  -0.0
string:
    "\u00e4"  "\x41\101"  '''q'q'''  "\U0001F600"  "10.0.0.1"
bytes:
    b"\xff\x00"  b'''x'''
dyn:
    device.attributes["d.io"].`s`  dyn([1, 2])  dyn({"a": 1})  dyn(1u)  dyn(0.5)  dyn(b"a")  dyn(duration("1s"))
    dyn(timestamp(0))  dyn(ip("10.0.0.1"))  dyn(optional.of(1))  CAPS  ATTRS
duration:
    duration("0s")  duration("1h2m3.5s")  duration("2562047h47m16.854775807s")
timestamp:
    timestamp("0001-01-01T00:00:00Z")  timestamp("9999-12-31T23:59:59.999999999Z")  timestamp(1700000000)
format:
    format.dns1123SubdomainPrefix()  format.uri()
"""
"""Leaves by type, also of types of expression_templates.py."""

_PLAIN = r"""
bool:
    {comparison}  {comparison}  {comparison}  {string}.matches({dyn})  {dyn}.contains({string})  {dyn}.endsWith({dyn})
    {dyn} && {bool}  {bool} || {dyn}  !{dyn}  {dyn} ? {bool} : {bool}  {dyn}.isSorted()  {dyn}.isInteger()
    type({dyn}) == {typename}  type({optional}) == optional_type  {dyn}.exists($dyn, {bool})  {dyn}.all($dyn, {bool})
    {dyn}.exists_one($dyn, {bool})  {dyn}.exists($dyn, $dyn, {bool})  has({dyn}.a)  has(device.attributes["d.io"].`s`)
    {dyn} in {dyn}  {cidr}.containsCIDR({cidrtext})  {cidr}.containsIP({iptext})  isIP({iptext})  isCIDR({cidrtext})
    ip.isCanonical({iptext})  {cidr} == {cidr}  {url} == {url}  {optmap} == {optional}  {lists} == {lists}
    {timestamp} == {timestamp}  {double} == {double}  {uint} in {uints}  {dyn} in {lists}  {bytes} in {bytess}
    sets.contains({dyns}, {strings})  sets.equivalent({uints}, {uints})  sets.intersects({dyns}, {ints})
    sets.contains({lists}, {lists})  {dyn} == {url}  {dyn} == {ip}  {typename} == {typename}  {string} in {optmap}
    {dyns}.includes({quantity})  {dyns}.isSorted()  {optional} == {dyn}  {optmap}.hasValue()
int:
    {clock}  {clock}  {clock}  {bytes}.size()  {map}.size()  {string}.size()  {dyn}.size()  size({dyn})  size({ints})
    {string}.lastIndexOf({string}, {int})  int({duration})  {lists}.size()  {dyns}.indexOf({dyn})  {dyn}.indexOf({dyn})
    {dyn}.asInteger()  {dyn}.compareTo({dyn})  {dyn}.sign()  {dyn}.minor()  {ints}.last().value()  sign({dyn})
uint:
    {uint} - {uint}  uint({double})  {uints}[{int}]
double:
    double({uint})  {doubles}[{int}]  {dyn}.asApproximateFloat()
string:
    {dyn}.lowerAscii()  {dyn}.trim()  {dyn}.replace({dyn}, {string})  {dyn}.substring({int})  {dyn}.charAt({int})
    {dyns}.join(",")  {string}.join()  "%s|%s".format([{dyn}, {dyns}])  "%s %s".format([{map}, {optional}])
    "%X %o %b".format([{int}, {uint}, {bool}])  "%e %.3e %f".format([{double}, {double}, {dyn}])  {string}.format([])
    "%s%%".format({dyns})  "%x %X".format([{string}, {bytes}])  "%s %s".format([{timestamp}, {duration}])
    "%d".format([{dyn}])  "%s".format([type({dyn})])  string({timestamp} - {duration})
    {strings}.min()  {strings}.max()  url({string}).getHost()  {dyn}.find({pattern})  string({ip})  strings.quote({dyn})
bytes:
    bytes({dyn})
dyn:
    -{dyn}  {dyn} - {dyn}  {dyn} * {dyn}  {dyn} / {dyn}  {dyn} % {dyn}  {dyn}[{dyn}]  {dyn}.x  {dyn}.?x  {dyn}[?{dyn}]
    {dyns}.max()  {dyns}.sum()  {dyns}.first()  {dyn}.first()  {dyn}.sum()  {dyn}.reverse()  {dyn}.sort()
    {dyn}.distinct()  {dyn}.flatten()  {dyn}.map($dyn, {dyn})  {dyn}.filter($dyn, {bool})  {dyn}.slice({int}, {int})
    {dyn}.split({string})  {dyn}.findAll({pattern})  {dyn}.transformList($dyn, $dyn, {dyn})  {dyn}.orValue({dyn})
    {dyn}.transformMap($dyn, $dyn, {dyn})  {optmap}.a.b  {optmap}["a"]  {optmap}.?a  optional.of({ints})[{int}]
    {lists}[{int}]  {dyn}.getHours()  {dyn}.add({dyn})  {dyn}.family()  {dyn}.hasValue()  cel.bind($dyn, {dyn}, {dyn})
    {dyn} ? {dyn} : {dyn}  {dyn} && {dyn}  {dyn} == {dyn}  {dyn}.sortBy($dyn, {dyn})  [{dyn}][0]  {"a": {dyn}}.a
quantity:
    quantity({dyn})  {bool} ? {quantity} : {quantity}
semver:
    semver({dyn})  {bool} ? {semver} : {semver}
ints:
    {lists}.flatten()  [{lists}, {lists}].flatten({int})  {lists}[{int}]  {map}.map($string, {int})
    {ints}.transformList($int, $int, {bool}, {int})  {lists}.map($ints, {int})  {ints}.slice({int}, {int}).reverse()
    {map}.transformList($string, $dyn, {int})  {dyns}.map($dyn, {int})
strings:
    {strings}.slice({int}, {int})  {dyns}.map($dyn, {string})  {map}.transformList($string, $dyn, {string})
    {strings}.sortBy($string, {uint})  {dyn}.split({dyn})
dyns:
    {dyns}.sort()  {dyns}.distinct()  {dyns}.reverse()  {dyns}.slice({int}, {int})  {dyns}.flatten()
    {dyns}.sortBy($dyn, {dyn})  {dyns}.transformList($int, $dyn, {dyn})  {map}.filter($string, {bool})
    [{optional}, {optional}].unwrapOpt()  [[[{int}]]].flatten({int})  [?{optional}, ?{optmap}]
lists:
    [{ints}, {ints}]  {lists} + {lists}  {lists}.map($ints, {ints})  {lists}.filter($ints, {bool})  {lists}.reverse()
    {lists}.distinct()  {lists}.sortBy($ints, {int})  [{lists}].flatten()
map:
    {map}.transformMapEntry($string, $dyn, {bool}, {{string}: {dyn}})  {{int}: {dyn}}  {{bool}: {dyn}, {uint}: {dyn}}
    {dyns}.transformMapEntry($int, $dyn, {{dyn}: {int}})  {"a": {map}}  {ints}.transformMap($int, $int, {int})
    {url}.getQuery()  {dyn}.transformMap($dyn, $dyn, {bool}, {dyn})
optional:
    {optmap}[?{string}]  {optmap}.?a.?b  optional.of({ints})[?{int}]  optional.of({dyns})[?{int}]  {dyn}[?{dyn}]
    {lists}[?{int}]  {optmap}.optMap($map, {map}.?a)  {dyn}.?a  {uints}.last()  optional.ofNonZeroValue({dyn})
    {optional}.optFlatMap($dyn, {optional})  {bool} ? {optional} : {optional}
optmap:
    optional.of({map})  {optmap}.or({optmap})  optional.ofNonZeroValue({map})
url:
    url({string})
ip:
    ip({iptext})
cidr:
    cidr({cidrtext})
duration:
    {duration} - {duration}  {duration} + {duration}
timestamp:
    {timestamp} - {duration}  {duration} + {timestamp}
"""


def _systematic() -> dict[str, list[str]]:
    """The templates that follow from the types."""
    made: dict[str, list[str]] = {"comparison": [], "clock": [], "bool": [], "int": []}
    made["comparison"] += [f"{{{kind}}} {sign} {{{kind}}}" for kind in ORDERED for sign in _OPERATORS]
    mixed = permutations(("int", "uint", "double"), 2)
    made["comparison"] += [f"{{{left}}} {sign} {{{right}}}" for left, right in mixed for sign in _OPERATORS]
    made["clock"] += [f"{{timestamp}}.get{name}({zone})" for name in _CLOCK for zone in ("", "{zone}")]
    made["clock"] += [f"{{duration}}.get{name}()" for name in _TIME]
    for kind in ORDERED:
        many = f"{{{kind}s}}"
        made["bool"] += [f"{many}.isSorted()", f"{many}.exists(${kind}, {{bool}})", f"{{{kind}}} in {many}"]
        made["int"] += [f"{many}.indexOf({{{kind}}})", f"{many}.size()"]
        made.setdefault(kind, []).extend([f"{many}.min()", f"{many}.max()", f"{many}[{{int}}]"])
        lists = [f"{many}.sort()", f"[{{{kind}}}, {{{kind}}}]", f"{many} + {many}", f"{many}.distinct()"]
        lists += [f"{{ints}}.map($int, {{{kind}}})", f"{many}.filter(${kind}, {{bool}})"]
        made.setdefault(f"{kind}s", []).extend(lists)
        made.setdefault("ints", []).append(f"{{ints}}.sortBy($int, {{{kind}}})")
        made[f"{kind}s"].append(f"{many}.sortBy(${kind}, {{int}})")
    for kind in SUMMED:
        made[kind].append(f"{{{kind}s}}.sum()")
    for kind in _KEPT:
        made.setdefault(kind, []).append(f"{kind}({{{kind}}})")
    return made


PLAIN: Final = _PLAIN
"""Templates by type, as text."""

SYSTEMATIC: Final = _systematic()
"""Templates by type."""
