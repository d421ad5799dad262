"""Functions by library; every expected outcome was compared with Kubernetes 1.37.2."""

import pytest

from dra_cel import CompileError, compile_selector
from support.cel_devices import outcomes

LISTS = [
    ("[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b']", "TTTT"),
    ("[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", "TTTT"),
    ("[1, 2].isSorted() && ![2, 1].isSorted() && [].map(x, x).isSorted()", "TTTT"),
    ("[1, 3, 2].max() == 3 && [1.5, 0.5].min() == 0.5 && ['a', 'c'].max() == 'c'", "TTTT"),
    ("[1, 2, 3].sum() == 6 && [1.5].sum() == 1.5 && [duration('1s'), duration('2s')].sum() == duration('3s')", "TTTT"),
    ("$A.lanes.sum() == 24 && $A.lanes.max() == 16", "TEEE"),
    ("[9223372036854775807, 1].sum() > 0", "EEEE"),
    ("[dyn(1)].map(x, x).filter(x, x > 1).max() == 1", "EEEE"),
    ("[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1", "TTTT"),
    ("[1, 2, 3, 4].slice(1, 3) == [2, 3]", "TTTT"),
    ("[1, 2].slice(1, 3) == [2]", "EEEE"),
    ("[[1, 2], [3]].flatten() == [1, 2, 3] && [[[1]]].flatten(2) == [1]", "TTTT"),
    ("[[1]].flatten(-1) == [1]", "EEEE"),
    ("lists.range(3) == [0, 1, 2] && [1, 2].reverse() == [2, 1] && [1, 2, 1].distinct() == [1, 2]", "TTTT"),
    ("lists.range(2000000).size() > 0", "EEEE"),
    ("lists.range(-1) == []", "EEEE"),
    ("$A.nics.includes('n0') && $A.model.includes('A100') && !$A.index.includes('x')", "TFFE"),
    ("sets.contains([1, 2], [2]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 2], [2, 1, 1])", "TTTT"),
    ("sets.contains([1], [2]) || sets.intersects([1], [2]) || sets.equivalent([1], [2])", "FFFF"),
]
NETWORK = [
    ("ip('10.0.0.1').family() == 4 && ip('::1').family() == 6 && ip('::1').isLoopback()", "TTTT"),
    (
        "isIP('1.2.3.4') && !isIP('1.2.3') && !isIP('fe80::1%eth0') && !isIP('::ffff:1.2.3.4') && !isIP('01.2.3.4')",
        "TTTT",
    ),
    ("ip.isCanonical('::1') && !ip.isCanonical('0::1')", "TTTT"),
    (
        "ip('0.0.0.0').isUnspecified() && ip('169.254.1.1').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
        "TTTT",
    ),
    ("ip('224.0.0.5').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()", "TTTT"),
    (
        "ip('8.8.8.8').isGlobalUnicast() && ip('10.0.0.1').isGlobalUnicast()",
        "TTTT",
    ),
    ("string(ip('1::0:1')) == '1::1' && string(cidr('10.1.2.3/8')) == '10.1.2.3/8'", "TTTT"),
    ("cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('::1'))", "TTTT"),
    ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", "TTTT"),
    ("cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.1.2.3/8').ip() == ip('10.1.2.3')", "TTTT"),
    (
        "cidr('::/0').prefixLength() == 0 && isCIDR('1.2.3.4/32') && !isCIDR('1.2.3.4/33') && !isCIDR('1.2.3.4/08')",
        "TTTT",
    ),
    ("ip('nonsense').family() == 4", "EEEE"),
    ("cidr('nonsense').prefixLength() == 4", "EEEE"),
    ("type(ip('1.1.1.1')) == net.IP && type(cidr('1.1.1.1/8')) == net.CIDR", "TTTT"),
    ("dyn(ip('1.1.1.1')) == 'x'", "EEEE"),
]
URLS = [
    ("url('HTTP://u:p@a.b:80/c%20d?x=1&x=2&y#f').getScheme() == 'http'", "TTTT"),
    ("url('http://u:p@a.b:80/c%20d?x=1&x=2&y#f').getHost() == 'a.b:80'", "TTTT"),
    ("url('http://[::1]:80/c').getHostname() == '::1' && url('http://[::1]:80/').getPort() == '80'", "TTTT"),
    ("url('http://a/c d').getEscapedPath() == '/c%20d' && url('/abs').getEscapedPath() == '/abs'", "TTTT"),
    ("url('http://a/?x=1&x=2&y=a+b').getQuery() == {'x': ['1', '2'], 'y': ['a b']}", "TTTT"),
    ("isURL('http://a/b') && !isURL('a/b') && !isURL('') && isURL('/a') && isURL('mailto:x')", "TTTT"),
    ("isURL('http://a:b/') || isURL('http://a b/') || isURL('http://a/%zz') || isURL('://a')", "FFFF"),
    ("url('../relative') == url('http://a')", "EEEE"),
    ("url('http://a') == url('http://a') && url('http://a') != url('http://b')", "TTTT"),
]
FORMATS = [
    ("format.dns1123Label().validate('a-b') == optional.none()", "TTTT"),
    ("format.dns1123Label().validate('A').hasValue() && format.dns1123Label().validate('').hasValue()", "TTTT"),
    ("format.dns1123LabelPrefix().validate('a-').hasValue()", "FFFF"),
    ("format.dns1123Subdomain().validate('a.b-c') == optional.none()", "TTTT"),
    ("format.dns1035Label().validate('1a').hasValue()", "TTTT"),
    (
        "format.qualifiedName().validate('a.b/C_d') == optional.none()",
        "TTTT",
    ),
    ("format.labelValue().validate('') == optional.none() && format.labelValue().validate('-').hasValue()", "TTTT"),
    ("format.uri().validate('http://a') == optional.none() && format.uri().validate('a').hasValue()", "TTTT"),
    ("format.uuid().validate('123e4567-e89b-12d3-a456-426614174000') == optional.none()", "TTTT"),
    ("format.byte().validate('aGk=') == optional.none() && format.byte().validate('a').hasValue()", "TTTT"),
    (
        "format.date().validate('2024-02-29') == optional.none() && format.date().validate('2023-02-29').hasValue()",
        "TTTT",
    ),
    ("format.datetime().validate('2024-01-01T00:00:00Z') == optional.none()", "TTTT"),
    ("format.datetime().validate('2024-01-01T25:00:00Z').hasValue()", "TTTT"),
    ("format.named('dns1123Label').value() == format.dns1123Label() && !format.named('x').hasValue()", "TTTT"),
]
TEXT = [
    ("'%s-%d'.format(['a', 1]) == 'a-1' && '%%'.format([]) == '%'", "TTTT"),
    ("'%.2f %f'.format([1.005, 1234567.5]) == '1.00 1,234,567.500000'", "TTTT"),
    ("'%e'.format([1052.032911275]) == '1.052033×10⁰³' && '%.1e'.format([0.00001]) == '1.000000×10⁻⁰⁵'", "TTTT"),
    ("'%x %X %b %o'.format([255, 'hello', true, 8u]) == 'ff 68656C6C6F 1 10'", "TTTT"),
    ("'%f %s'.format(['Infinity', 1.0/0.0]) == '∞ +Inf'", "TTTT"),
    (
        "'%s'.format([[1.5, 'a', b'b', true, null, duration('1s'), timestamp(0), type(1)]])"
        ' == "[1.500000, \\"a\\", b\\"b\\", true, null, duration(\\"1s\\"),'
        ' timestamp(\\"1970-01-01T00:00:00Z\\"), int]"',
        "TTTT",
    ),
    ("'%s'.format([{'b': [1], 'a': 1}]) == '{\"a\":1, \"b\":[1]}'", "TTTT"),
    ("'%d'.format(['a']) == ''", "CCCC"),
    ("'%d'.format([dyn('a')]) == ''", "EEEE"),
    ("'%d %d'.format([1]) == ''", "CCCC"),
    ("'%d'.format([1, 2]) == ''", "CCCC"),
    ("'%z'.format([1]) == ''", "CCCC"),
    ("'%'.format([1]) == ''", "CCCC"),
    ("'%s'.format([quantity('1')]) == ''", "CCCC"),
    ("strings.quote('a\"\\n') == '\"a\\\\\"\\\\n\"'", "TTTT"),
]
TIMES = [
    ("timestamp('2024-02-29T12:34:56.789Z').getFullYear() == 2024", "TTTT"),
    ("timestamp('2024-02-29T12:34:56.789Z').getMonth() == 1 && timestamp(0).getDayOfWeek() == 4", "TTTT"),
    (
        "timestamp('2024-02-29T00:00:00Z').getDate() == 29 && timestamp('2024-02-29T00:00:00Z').getDayOfMonth() == 28",
        "TTTT",
    ),
    ("timestamp('2024-02-29T00:00:00Z').getDayOfYear() == 59", "TTTT"),
    ("timestamp('2024-01-01T12:34:56.789Z').getMilliseconds() == 789", "TTTT"),
    ("timestamp(0).getFullYear('America/New_York') == 1969 && timestamp(0).getHours('-08:00') == 16", "TTTT"),
    ("timestamp(0).getHours('Nowhere/Land') == 16", "EEEE"),
    ("duration('1h30m').getHours() == 1 && duration('1h30m').getMinutes() == 90", "TTTT"),
    ("duration('1.5s').getMilliseconds() == 1500 && duration('1h').getSeconds() == 3600", "TTTT"),
    ("timestamp(10) - timestamp(4) == duration('6s') && timestamp(0) + duration('1s') == timestamp(1)", "TTTT"),
    (
        "duration('1s') + timestamp(0) - duration('1s') == timestamp(0)",
        "TTTT",
    ),
    ("timestamp('9999-12-31T23:59:59Z') + duration('1s') > timestamp(0)", "EEEE"),
    ("int(timestamp(5)) == 5 && int(duration('1us')) == 1000", "TTTT"),
    ("timestamp('2024-01-01T00:00:00+01:00') == timestamp('2023-12-31T23:00:00Z')", "TTTT"),
    ("timestamp('2024-02-30T00:00:00Z') == timestamp(0)", "CCCC"),
    ("timestamp('0000-12-31T23:30:00-01:00') == timestamp('0001-01-01T00:30:00Z')", "TTTT"),
    ("timestamp('0000-12-31T22:30:00-01:00') == timestamp(0)", "CCCC"),
    ("string(timestamp('0000-12-31T23:30:00-01:00')) == '0000-12-31T23:30:00-01:00'", "TTTT"),
    ("timestamp('9999-12-31T23:30:00Z').getFullYear('+01:00') == 10000", "TTTT"),
    ("timestamp('9999-12-31T23:30:00Z').getDayOfYear('Europe/Berlin') == 0", "TTTT"),
    ("timestamp('0001-01-01T00:00:00Z').getFullYear('-01:00') == 0", "TTTT"),
    ("timestamp('0001-01-01T00:00:00Z').getDayOfYear('America/New_York') == 365", "TTTT"),
    ("timestamp('0001-01-01T00:00:00Z').getDayOfWeek('America/New_York') == 0", "TTTT"),
    (
        "string(timestamp('9999-12-31T23:30:00+01:00') + duration('1h')) == '10000-01-01T00:30:00+01:00'",
        "TTTT",
    ),
    ("timestamp(0).getHours('Local') == 0 && timestamp(0).getHours('') == 0", "TTTT"),
    ("-dyn(duration('1s')) == duration('-1s')", "TTTT"),
    ("-duration('1s') == duration('-1s')", "CCCC"),
]
UNUSUAL_LISTS = [
    ("'%f %.1f %s'.format([-0.0, 0.0 * -1.0, -0.0]) == '0.000000 0.0 -0'", "TTTT"),
    ("'%.1f %s'.format([-0.01, [-0.0]]) == '-0.0 [-0.000000]'", "TTTT"),
    ("'%e'.format([-0.0]) == '0.000000×10⁰⁰'", "TTTT"),
    ("[2.0, double('NaN'), 1.0, 3.0, 0.5].sort()[2] == 0.5", "TTTT"),
    ("[2.0, double('NaN'), 1.0, 3.0, 0.5].sort()[0] == 2.0", "TTTT"),
    ("[double('NaN'), 1.0].sort().isSorted()", "TTTT"),
    ("lists.range(1000001) == [] || true", "TTTT"),
    ("lists.range(1000000).size() > 0 || true", "EEEE"),
]


@pytest.mark.parametrize(("text", "expected"), [*LISTS, *UNUSUAL_LISTS, *NETWORK, *URLS, *FORMATS, *TEXT, *TIMES])
def test_functions_do_what_kubernetes_does(text: str, expected: str) -> None:
    assert outcomes(text) == expected


@pytest.mark.parametrize("clause", ["%s", "%d", "%f", "%e", "%x", "%o", "%b"])
def test_new_expressions_without_lists_can_format_no_attribute_unless_it_is_made_dyn(clause: str) -> None:
    attribute = 'device.attributes["gpu.example.com"].index'
    text = f'"{clause}".format([{{}}]) == ""'
    compile_selector(text.format(attribute), new_expression=True)
    compile_selector(text.format(f"dyn({attribute})"), new_expression=True, list_attributes=False)
    with pytest.raises(CompileError, match=r"was given google\.protobuf\.Any"):
        compile_selector(text.format(attribute), new_expression=True, list_attributes=False)
