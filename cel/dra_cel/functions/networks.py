"""Kubernetes' libraries of IP addresses and CIDR ranges."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dra_cel import types as t
from dra_cel.dispatch import register_object
from dra_cel.equality import register_strict
from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import Charge, Estimate, Operand, per_character, size_of
from dra_cel.functions.table import member, overload
from dra_cel.ranges import STRING_FACTOR, UNIT, Range, scale
from dra_cel.values import register_type_name

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_BITS = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_LINK_LOCAL_V4 = ipaddress.ip_network("224.0.0.0/24")
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")


@dataclass(frozen=True, slots=True)
class IP:
    """An IP address."""

    address: Address

    def cost_size(self) -> int:
        """Return its length in bytes."""
        return self.address.max_prefixlen // 8


@dataclass(frozen=True, slots=True)
class CIDR:
    """An IP range; the address keeps the bits beyond the prefix."""

    address: Address
    bits: int

    def cost_size(self) -> int:
        """Return the length of its prefix in bytes."""
        return -(-self.bits // 8)

    def masked(self) -> CIDR:
        """Return the range with the bits beyond the prefix cleared."""
        network = ipaddress.ip_network((self.address, self.bits), strict=False)
        return CIDR(network.network_address, self.bits)

    def contains(self, address: Address) -> bool:
        """Return whether an address is in the range."""
        if address.version != self.address.version:
            return False
        shift = self.address.max_prefixlen - self.bits
        return int(address) >> shift == int(self.address) >> shift


for _class, _type in ((IP, t.IP), (CIDR, t.CIDR)):
    register_type_name(_class, _type.name)
    register_object(_type, _class)
    register_strict(_class)


def parse_ip(text: str) -> IP:
    """Parse an address; zones and IPv4-mapped IPv6 addresses are refused.

    Raises:
        EvaluationError: the text is no such address.

    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError as error:
        raise EvaluationError(f"IP address {text[:80]!r} can't be parsed") from error
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise EvaluationError(f"IP address {text[:80]!r} with a zone is not allowed")
        if address.ipv4_mapped is not None:
            raise EvaluationError(f"IPv4-mapped IPv6 address {text[:80]!r} is not allowed")
    return IP(address)


def parse_cidr(text: str) -> CIDR:
    """Parse `address/bits`.

    Raises:
        EvaluationError: the text is no CIDR range.

    """
    head, slash, bits = text.rpartition("/")
    if not slash or not _BITS.fullmatch(bits):
        raise EvaluationError(f"network address {text[:80]!r} must have the form address/bits")
    address = parse_ip(head).address
    if int(bits) > address.max_prefixlen:
        raise EvaluationError(f"network address {text[:80]!r}: the prefix is too long")
    return CIDR(address, int(bits))


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def call(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return call


def _is_link_local_multicast(ip: IP) -> bool:
    address = ip.address
    if isinstance(address, ipaddress.IPv4Address):
        return address in _LINK_LOCAL_V4
    return int(address) >> 112 & 0xFF0F == 0xFF02


def _is_link_local_unicast(ip: IP) -> bool:
    address = ip.address
    if isinstance(address, ipaddress.IPv4Address):
        return int(address) >> 16 == 0xA9FE
    return int(address) >> 118 == 0x3FA


def _is_global_unicast(ip: IP) -> bool:
    address = ip.address
    return not (
        address.is_unspecified
        or address == _BROADCAST
        or address.is_loopback
        or address.is_multicast
        or _is_link_local_unicast(ip)
    )


def _contains_cidr(outer: CIDR, inner: CIDR) -> bool:
    return outer.bits <= inner.bits and outer.contains(inner.address)


def _contains_charge(parses: bool, nested: bool) -> Charge:
    """Charge for comparing prefixes, and for parsing the argument where it is text."""

    def runtime(args: Sequence[Any], result: Any) -> int:
        size = size_of(args[0])
        cost = scale(size + size, STRING_FACTOR)
        if nested:
            cost += scale(size, STRING_FACTOR) + 1
        if parses:
            cost += scale(size_of(args[1]), STRING_FACTOR)
        return cost

    def estimate(target: Operand | None, args: Sequence[Operand]) -> Estimate:
        size = Range(4, 16)
        cost = size.plus(size).scaled(STRING_FACTOR)
        if nested:
            cost = cost.plus(size.scaled(STRING_FACTOR)).plus(UNIT)
        if parses:
            cost = cost.plus(args[0].size.scaled(STRING_FACTOR))
        return Estimate(cost)

    return Charge(runtime, estimate, by_function=True)


_TRAVERSE = per_character()
_PARSE = per_character(0, by_function=False)

OVERLOADS = [
    overload("string_to_ip", "ip(string) -> IP", parse_ip, _PARSE),
    member("cidr_ip", "ip(CIDR) -> IP", lambda cidr: IP(cidr.address)),
    member("ip_family", "family(IP) -> int", lambda ip: ip.address.version),
    overload(
        "ip_is_canonical",
        "ip.isCanonical(string) -> bool",
        lambda text: str(parse_ip(text).address) == text,
        per_character(0, 2 * STRING_FACTOR),
    ),
    member("ip_is_unspecified", "isUnspecified(IP) -> bool", lambda ip: ip.address.is_unspecified),
    member("ip_is_loopback", "isLoopback(IP) -> bool", lambda ip: ip.address.is_loopback),
    member("ip_is_link_local_multicast", "isLinkLocalMulticast(IP) -> bool", _is_link_local_multicast),
    member("ip_is_link_local_unicast", "isLinkLocalUnicast(IP) -> bool", _is_link_local_unicast),
    member("ip_is_global_unicast", "isGlobalUnicast(IP) -> bool", _is_global_unicast),
    overload("is_ip", "isIP(string) -> bool", _parses(parse_ip), _TRAVERSE),
    overload("ip_to_string", "string(IP) -> string", lambda ip: str(ip.address)),
    overload("string_to_cidr", "cidr(string) -> CIDR", parse_cidr, _TRAVERSE),
    overload("is_cidr", "isCIDR(string) -> bool", _parses(parse_cidr), _TRAVERSE),
    member(
        "cidr_contains_ip_string",
        "containsIP(CIDR, string) -> bool",
        lambda cidr, text: cidr.contains(parse_ip(text).address),
        _contains_charge(parses=True, nested=False),
    ),
    member(
        "cidr_contains_ip_ip",
        "containsIP(CIDR, IP) -> bool",
        lambda cidr, ip: cidr.contains(ip.address),
        _contains_charge(parses=False, nested=False),
    ),
    member(
        "cidr_contains_cidr_string",
        "containsCIDR(CIDR, string) -> bool",
        lambda outer, text: _contains_cidr(outer, parse_cidr(text)),
        _contains_charge(parses=True, nested=True),
    ),
    member(
        "cidr_contains_cidr",
        "containsCIDR(CIDR, CIDR) -> bool",
        _contains_cidr,
        _contains_charge(parses=False, nested=True),
    ),
    member("cidr_prefix_length", "prefixLength(CIDR) -> int", lambda cidr: cidr.bits),
    member("cidr_masked", "masked(CIDR) -> CIDR", CIDR.masked),
    overload("cidr_to_string", "string(CIDR) -> string", lambda cidr: f"{cidr.address}/{cidr.bits}"),
]
