"""What expressions are made of: templates and leaves by type. generate_expressions.py explains the notation.

Entries are separated by two spaces or a new line; ATTRS and CAPS stand for the attributes and capacities of a driver.
"""

from __future__ import annotations

import re
from typing import Final

from dra_bench.oracle import expression_overloads

_LEAVES: Final = r"""
bool:
    true  false  ATTRS.b  device.allowMultipleAllocations  "s" in ATTRS  has(ATTRS.i)  ATTRS.?b.orValue(false)
int:
    0  1  7  -3  9223372036854775807  ATTRS.i  ATTRS.?i.orValue(1)  int("7")  size("äb")
uint:
    0u  7u  uint(3)  18446744073709551615u
double:
    0.5  7.0  -1.5e3  double(7)  double("NaN")  1.0 / 0.0
string:
    "a"  "b-1"  "äöü"  ""  device.driver  ATTRS.s  device.attributes["x.io"].s  r"\d"  'q'
bytes:
    b"a"  bytes("ä")  b""
dyn:
    ATTRS.s  ATTRS.i  ATTRS.b  ATTRS.v  ATTRS.ls  ATTRS.nosuch  dyn(1)  dyn("a")  ATTRS["li"]  null
quantity:
    CAPS.m  quantity("40Gi")  quantity("1500m")  device.capacity["x.io"].n  quantity("7")  quantity("x")
semver:
    semver(string(ATTRS.s))  semver("1.2.3")  semver("2.0.0-rc.1")  semver("v1.2", true)  semver("1.2.3+c")
ints:
    [1, 7]  []  [3, 2, 3]  lists.range(3)  [ATTRS.i]
strings:
    ["a", "c"]  ["b-1"]  "a,b".split(",")  ["a", string(ATTRS.s)]
dyns:
    ATTRS.ls  ATTRS.li  ATTRS.lv  [dyn(1), dyn('a')]  ATTRS.nosuch
map:
    ATTRS  CAPS  device.attributes  {"a": 1}  {}  {"a": {"b": 1}}  {1: true}
optional:
    ATTRS.?s  ATTRS.?i  ATTRS[?"b"]  optional.of(7)  optional.none()  optional.ofNonZeroValue(0)  CAPS.?m
url:
    url("https://a.io:80/p?q=1&q=2")  url("http://[::1]/x")  url("x")
ip:
    ip("10.0.0.1")  ip("::1")  ip("ff02::1")  ip("0.0.0.0")  ip("169.254.0.1")  ip("x")
cidr:
    cidr("10.0.0.0/8")  cidr("10.1.2.3/16")  cidr("::/0")  cidr("2001:db8::/32")
duration:
    duration("1s")  duration("-1.5h")  duration("1ms")
timestamp:
    timestamp("2025-01-02T03:04:05Z")  timestamp("2025-12-31T23:59:59.5+01:00")
format:
    format.dns1123Label()  format.named("uri").value()  format.labelValue()  format.qualifiedName()  format.uuid()
    format.dns1123Subdomain()  format.dns1035Label()  format.date()  format.datetime()  format.byte()
    format.dns1123LabelPrefix()  format.dns1035LabelPrefix()  format.named("nosuch").value()
pattern:
    "a.*"  "^b"  r"\d+"  "(a)(b)?"  "[[:alpha:]]"  "x{2,}"
"""

_TEMPLATES: Final = r"""
bool:
    {bool} && {bool}  {bool} || {bool}  !{bool}  {bool} ? {bool} : {bool}  ({bool})  {bool} && {bool}
    {bool} || {bool}  !{bool}  {bool} ? {bool} : {bool}  ({bool})  {dyn} == {dyn}  {dyn} != {dyn}  {dyn} < {dyn}
    {dyn} in {dyns}  {dyns}.includes({dyn})  {dyn}.includes({dyn})  {int} == {int}  {int} < {int}  {int} >= {double}
    {uint} > {int}  {double} <= {double}  {string} == {string}  {string} < {string}  {string} != {dyn}  {int} == {dyn}
    {string}.startsWith({string})  {string}.endsWith({string})  {string}.contains({string})
    {string}.matches({pattern})  {string}.matches({string})  matches({string}, {pattern})  {quantity} == {quantity}
    {quantity}.isGreaterThan({quantity})  {quantity}.isLessThan({quantity})  {quantity} != {dyn}  {dyn} == {quantity}
    {dyn} == {semver}  {quantity} == {dyn}  {semver} == {dyn}  isQuantity({string})  {quantity}.isInteger()
    {semver}.isLessThan({semver})  isSemver({string})  {dyn}.isGreaterThan({semver})  {dyn}.compareTo({semver}) > 0
    isSemver({string}, {bool})  {semver}.isGreaterThan({semver})  {semver} == {semver}  {ints}.isSorted()
    {strings}.isSorted()  {ints}.exists($int, {bool})  {strings}.all($string, {bool})  {ints}.exists_one($int, {bool})
    {dyns}.exists($dyn, {bool})  {dyns}.all($dyn, {bool})  {map}.exists($string, {bool})
    {map}.all($string, $dyn, {bool})  {map}.exists($string, $dyn, {bool})  {map}.existsOne($string, $dyn, {bool})
    {ints}.exists($int, $int, {bool})  {strings}.existsOne($int, $string, {bool})  {dyns}.existsOne($dyn, {bool})
    {string} in {map}  {int} in {ints}  {string} in {strings}  {dyn} in [{quantity}]  {dyn} in {map}
    cel.bind($dyn, {dyn}, {bool})  cel.bind($int, {int}, {bool})  cel.bind($map, {map}, {bool})  {optional}.hasValue()
    {optional}.orValue({dyn}) == {dyn}  {optional} == {optional}  {optional}.value() == {dyn}
    {optional}.or({optional}).hasValue()  {optional}.optMap($dyn, {dyn}) == {optional}  {bool} == {bool}
    {optional}.optFlatMap($dyn, {optional}).hasValue()  sets.contains({ints}, {ints})  {ints} == {ints}
    sets.intersects({strings}, {strings})  sets.equivalent({ints}, {ints})  {map} == {map}  {dyns} == {strings}
    isURL({string})  isIP({string})  isCIDR({string})  ip.isCanonical({string})  {ip}.isUnspecified()
    {ip}.isLoopback()  {ip}.isLinkLocalMulticast()  {ip}.isLinkLocalUnicast()  {ip}.isGlobalUnicast()
    {cidr}.containsIP({ip})  {cidr}.containsIP({string})  {cidr}.containsCIDR({cidr})  {ip} == {ip}
    {format}.validate({string}).hasValue()  {timestamp} < {timestamp}  {duration} == {duration}  has({map}.a)
    type({dyn}) == type({dyn})  type({dyn}) == string  {bytes} == {bytes}  {bytes} < {bytes}  {dyn}.matches({pattern})
    {dyn}.startsWith({string})  {dyn}  bool({string})  {dyn} > {int}
int:
    {int} + {int}  {int} - {int}  {int} * {int}  {int} / {int}  {int} % {int}  -{int}  size({string})  {dyns}.size()
    size({map})  {quantity}.sign()  sign({quantity})  {quantity}.asInteger()  {quantity}.compareTo({quantity})
    {semver}.major()  {semver}.minor()  {semver}.patch()  {semver}.compareTo({semver})  {string}.indexOf({string})
    {string}.lastIndexOf({string})  {string}.indexOf({string}, {int})  {ints}.sum()  {ints}.min()  {ints}.max()
    {ints}.indexOf({int})  {strings}.lastIndexOf({string})  {ip}.family()  {cidr}.prefixLength()  int({string})
    int({double})  int({uint})  {bool} ? {int} : {int}  {ints}[{int}]  {timestamp}.getFullYear()
    {duration}.getSeconds()  {timestamp}.getDayOfYear()  {timestamp}.getHours('+02:00')  {ints}.first().orValue({int})
    size({bytes})  int({timestamp})  {strings}.size()  cel.bind($int, {int}, {int})  {duration}.getMilliseconds()
uint:
    {uint} + {uint}  {uint} * {uint}  uint({int})  uint({string})  {uint} / {uint}  {uint} % {uint}
double:
    {double} + {double}  {double} * {double}  {double} / {double}  double({int})  double({string})
    {quantity}.asApproximateFloat()  -{double}  {bool} ? {double} : {double}  {double} - {double}
string:
    {string} + {string}  {string}.lowerAscii()  {string}.upperAscii()  {string}.trim()  string({int})
    {string}.replace({string}, {string})  {string}.replace({string}, {string}, {int})  string({double})
    {string}.substring({int})  {string}.substring({int}, {int})  {string}.charAt({int})  string({bool})
    {strings}.join()  {strings}.join({string})  "%s-%d".format([{string}, {int}])  string({bytes})
    "%x %.2f %v".format([{int}, {double}, {dyn}])  strings.quote({string})  {string}.find({pattern})  string({ip})
    string({cidr})  {url}.getHost()  {url}.getScheme()  {url}.getHostname()  {url}.getPort()  {url}.getEscapedPath()
    {bool} ? {string} : {string}  string({dyn})  {strings}[{int}]  string({uint})  string({timestamp})
    string({duration})  {optional}.value()  cel.bind($string, {string}, {string})
bytes:
    {bytes} + {bytes}  bytes({string})
dyn:
    dyn({int})  dyn({string})  dyn({quantity})  dyn({bool})  dyn({semver})  dyn({double})  dyn({ints})
    {map}[{string}]  {dyns}[{int}]  {optional}.orValue({dyn})  {optional}.value()  {bool} ? {dyn} : {dyn}  dyn({uint})
    {dyn} + {dyn}  {dyns}.min()  {dyn}.major()  dyn({map})
quantity:
    {quantity}.add({quantity})  {quantity}.sub({quantity})  {quantity}.add({int})  quantity({string})
    {quantity}.sub({int})
semver:
    semver({string})  semver({string}, {bool})
ints:
    {ints} + {ints}  [{int}, {int}]  {ints}.filter($int, {bool})  {ints}.map($int, {int})  {ints}.sort()
    {ints}.map($int, {bool}, {int})  {ints}.distinct()  {ints}.reverse()  {ints}.slice({int}, {int})
    lists.range({int})  [{ints}, {ints}].flatten()  {strings}.map($string, {int})  {ints}.sortBy($int, {int})
    {ints}.transformList($int, $int, {int})  [?{optional}, {int}]
strings:
    {strings} + {strings}  [{string}, {string}]  {strings}.filter($string, {bool})  {string}.split({string})
    {strings}.map($string, {string})  {string}.split({string}, {int})  {string}.findAll({pattern})  {strings}.sort()
    {strings}.distinct()  {string}.findAll({pattern}, {int})  {strings}.sortBy($string, {int})
    {format}.validate({string}).orValue([])  {map}.map($string, {string})  {strings}.reverse()
    {url}.getQuery()[{string}]
dyns:
    [{dyn}, {dyn}]  {dyns}.filter($dyn, {bool})  {dyns}.map($dyn, {dyn})  {dyns} + {dyns}
    optional.unwrap([{optional}])
map:
    {"a": {dyn}}  {map}.transformMap($string, $dyn, {dyn})  {map}.transformMap($string, $dyn, {bool}, {dyn})
    {ints}.transformMapEntry($int, $int, {{string}: {int}})  {?"a": {optional}}  {map}[{string}]
optional:
    {map}[?{string}]  {map}.?a  optional.of({dyn})  optional.ofNonZeroValue({int})  {optional}.or({optional})
    {dyns}[?{int}]  {optional}.optMap($dyn, {dyn})  {ints}.first()  {strings}.last()
    {optional}.optFlatMap($dyn, {optional})
ip:
    ip({string})  {cidr}.ip()
cidr:
    cidr({string})  {cidr}.masked()
duration:
    {duration} + {duration}  {timestamp} - {timestamp}  duration({string})
timestamp:
    {timestamp} + {duration}  timestamp({string})  timestamp({int})
pattern:
    {pattern} + {pattern}  {string}
"""


def _read(text: str) -> dict[str, list[str]]:
    """Return the entries by type; a line `name:` starts a type."""
    read: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            entries = read.setdefault(line.removesuffix(":"), [])
            continue
        written = line.replace("ATTRS", 'device.attributes["d.io"]').replace("CAPS", 'device.capacity["d.io"]')
        entries += re.split(r" {2,}", written.strip())
    return read


def _merged(*parts: dict[str, list[str]]) -> dict[str, list[str]]:
    merged: dict[str, list[str]] = {}
    for part in parts:
        for kind, entries in part.items():
            merged.setdefault(kind, []).extend(entries)
    return merged


LEAVES: Final = _merged(_read(_LEAVES), _read(expression_overloads.LEAVES))
"""Expressions without parts, by type."""

TEMPLATES: Final = _merged(_read(_TEMPLATES), _read(expression_overloads.PLAIN), expression_overloads.SYSTEMATIC)
"""Expressions with placeholders, by type."""

TYPES: Final = tuple(LEAVES)
"""All types."""
