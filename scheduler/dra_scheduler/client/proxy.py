"""The proxy that the environment names, by the rules that Kubernetes' own clients follow."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from dra_scheduler.client.errors import ConnectError


def environment_proxy(server: str, environ: Mapping[str, str]) -> str | None:
    """HTTPS_PROXY or HTTP_PROXY (small letters too), unless NO_PROXY or a loopback address says otherwise.

    NO_PROXY has host names, domains and networks (10.0.0.0/8), separated by commas. Raises ConnectError for a proxy of
    a kind that is not supported.
    """
    parts = urlsplit(server)
    host = parts.hostname or ""
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name) or environ.get(name.upper())
    excluded = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if not proxy or _is_loopback(host) or _in_networks(host, excluded):
        return None
    if proxy_bypass_environment(parts.netloc, {"no": excluded}):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise ConnectError(f"{name.upper()}: only http and https proxies are supported")
    return proxy


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _in_networks(host: str, excluded: str) -> bool:
    address = _address(host)
    if address is None:
        return False
    for entry in excluded.split(","):
        try:
            network = ipaddress.ip_network(entry.strip(), strict=False)
        except ValueError:
            continue
        if address in network:
            return True
    return False
