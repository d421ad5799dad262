"""Kubernetes' library of URLs."""

from __future__ import annotations

from typing import Any

from dra_cel import types as t
from dra_cel.dispatch import register_object
from dra_cel.equality import register_strict
from dra_cel.errors import EvaluationError
from dra_cel.functions.charges import SAME_SIZE
from dra_cel.functions.table import member, overload
from dra_cel.url import Url, UrlError, parse_request_uri, parse_url
from dra_cel.values import CelMap, register_type_name

register_type_name(Url, t.URL.name)
register_object(t.URL, Url)
register_strict(Url)


def _parse(text: str) -> Url:
    try:
        return parse_url(text)
    except UrlError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from error


def is_url(text: str) -> bool:
    """Return whether a text is an absolute URL or an absolute path."""
    try:
        parse_request_uri(text)
    except UrlError:
        return False
    return True


def _query(url: Url) -> Any:
    parameters: dict[str, Any] = dict(url.parameters())
    return CelMap.of_strings(parameters)


OVERLOADS = [
    overload("string_to_url", "url(string) -> URL", _parse, SAME_SIZE),
    overload("is_url_string", "isURL(string) -> bool", is_url),
    member("url_get_scheme", "getScheme(URL) -> string", lambda url: url.scheme),
    member("url_get_host", "getHost(URL) -> string", lambda url: url.host),
    member("url_get_hostname", "getHostname(URL) -> string", lambda url: url.hostname),
    member("url_get_port", "getPort(URL) -> string", lambda url: url.port),
    member("url_get_escaped_path", "getEscapedPath(URL) -> string", Url.escaped_path),
    member("url_get_query", "getQuery(URL) -> map(string, list(string))", _query),
]
