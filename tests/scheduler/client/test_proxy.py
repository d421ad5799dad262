from __future__ import annotations

import pytest

from dra_scheduler.client.errors import ConnectError
from dra_scheduler.client.proxy import environment_proxy

PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


@pytest.mark.parametrize(
    ("server", "environ", "proxy"),
    [
        ("https://api.example:6443", PROXY, "http://proxy:3128"),
        ("https://api.example:6443", {"https_proxy": "proxy:3128"}, "http://proxy:3128"),
        ("https://api.example:6443", {"HTTP_PROXY": "http://proxy:3128"}, None),
        ("http://api.example:6443", {"HTTP_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ("https://api.example:6443", PROXY | {"NO_PROXY": "example"}, None),
        ("https://api.example:6443", PROXY | {"NO_PROXY": "other, .example"}, None),
        ("https://api.example:6443", PROXY | {"NO_PROXY": "ample"}, "http://proxy:3128"),
        ("https://10.1.2.3:6443", PROXY | {"NO_PROXY": "10.0.0.0/8"}, None),
        ("https://10.1.2.3:6443", PROXY | {"NO_PROXY": "11.0.0.0/8,10.1.2.3"}, None),
        ("https://[fd00::1]:6443", PROXY | {"NO_PROXY": "fd00::/8"}, None),
        ("https://10.1.2.3:6443", PROXY | {"NO_PROXY": "nonsense/8"}, "http://proxy:3128"),
        ("https://127.0.0.1:6443", PROXY, None),
        ("https://localhost:6443", PROXY, None),
        ("https://[::1]:6443", PROXY, None),
        ("https://api.example:6443", {}, None),
    ],
)
def test_the_environment_s_proxy_is_used_where_kubectl_would(
    server: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert environment_proxy(server, environ) == proxy


def test_other_kinds_of_proxies_are_refused() -> None:
    with pytest.raises(ConnectError, match="HTTPS_PROXY: only http and https"):
        environment_proxy("https://api.example", {"HTTPS_PROXY": "socks5://proxy"})
