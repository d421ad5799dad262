"""URLs, by the rules of Go's `net/url`, which Kubernetes' URL library follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from dra_cel.slices import tick

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.ASCII | re.DOTALL)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(?::[0-9]*)?", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_HOST_FORBIDDEN = re.compile(r"[\x00-\x20\x7f#/?@\\^`{|}]")
_PATH_VALID = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@\[\]%/]*", re.ASCII)
_PATH_KEPT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@")


class UrlError(ValueError):
    """The text is no absolute URL or absolute path."""


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL.

    Attributes:
        scheme: in lower case.
        user: user name and password as written, with the `@`; empty where there is none.
        host: host and port, unescaped.
        raw_path: as written.
        query: as written, without the question mark.
        fragment: as written.

    """

    scheme: str
    user: str
    host: str
    raw_path: str
    query: str
    fragment: str

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        if self.host.startswith("["):
            return self.host[1 : self.host.rindex("]")]
        return self.host.partition(":")[0]

    @property
    def port(self) -> str:
        """The port, or an empty string."""
        rest = self.host[self.host.rindex("]") + 1 :] if self.host.startswith("[") else self.host
        _, colon, port = rest.rpartition(":")
        return port if colon else ""

    def escaped_path(self) -> str:
        """Return the path with everything escaped that has to be."""
        if _PATH_VALID.fullmatch(self.raw_path):
            return self.raw_path
        decoded = unquote_to_bytes(self.raw_path)
        return "".join([chr(byte) if byte in _PATH_KEPT else f"%{byte:02X}" for byte in decoded])

    def parameters(self) -> dict[str, tuple[str, ...]]:
        """Return the query's parameters; what can't be decoded is left out."""
        result: dict[str, list[str]] = {}
        for part in self.query.split("&"):
            tick()
            key, _, value = part.partition("=")
            if not part or ";" in part or _BAD_ESCAPE.search(part):
                continue
            name, decoded = (_decode(text.replace("+", " ")) for text in (key, value))
            result.setdefault(name, []).append(decoded)
        return {name: tuple(values) for name, values in result.items()}


def parse_request_uri(text: str) -> None:
    """Check that a text is an absolute URL or an absolute path.

    Raises:
        UrlError: it is neither.

    """
    _parse(text, request=True)


def parse_url(text: str) -> Url:
    """Parse a URL that `parse_request_uri` accepts; a fragment is taken off.

    Raises:
        UrlError: it is no absolute URL or path.

    """
    _parse(text, request=True)
    whole, _, fragment = text.partition("#")
    if _BAD_ESCAPE.search(fragment):
        raise UrlError(f"invalid escape in the fragment of {text[:80]!r}")
    return _parse(whole, request=False, fragment=fragment)


def _parse(text: str, request: bool, fragment: str = "") -> Url:
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise UrlError(f"{text[:80]!r} has a control character")
    if not text and request:
        raise UrlError("a URL can't be empty")
    if text == "*":
        return Url("", "", "", "*", "", fragment)
    match = _SCHEME.fullmatch(text)
    if match is None and text.startswith(":"):
        raise UrlError(f"{text[:80]!r} has no protocol scheme before the colon")
    scheme, rest = (match.group(1).lower(), match.group(2)) if match else ("", text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, "", "", "", query, fragment)
        if request or ":" in rest.partition("/")[0]:
            raise UrlError(f"{text[:80]!r} must be an absolute URL or start with a slash")
    user = host = ""
    if rest.startswith("//") and (scheme or (not request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _authority(text, authority)
    if _BAD_ESCAPE.search(rest):
        raise UrlError(f"invalid escape in the path of {text[:80]!r}")
    return Url(scheme, user, host, rest, query, fragment)


def _authority(text: str, authority: str) -> tuple[str, str]:
    user, at, host = authority.rpartition("@")
    if at and (not _USER.fullmatch(user) or _BAD_ESCAPE.search(user)):
        raise UrlError(f"invalid user information in {text[:80]!r}")
    name = host
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise UrlError(f"missing ']' in the host of {text[:80]!r}")
        name, port = host[1:end], host[end + 1 :]
        bad_name = not name
    else:
        name, colon, digits = host.rpartition(":")
        port = colon + digits
        if not colon:
            name, port = host, ""
        bad_name = ":" in name
    if not _PORT.fullmatch(port):
        raise UrlError(f"invalid port {port!r} in {text[:80]!r}")
    escapes = [int(code, 16) for code in re.findall(r"%([0-9A-Fa-f]{2})", host)]
    if bad_name or _BAD_ESCAPE.search(host) or any(code < 0x80 and code != 0x25 for code in escapes):
        raise UrlError(f"invalid host in {text[:80]!r}")
    if _HOST_FORBIDDEN.search(host):
        raise UrlError(f"invalid character in the host of {text[:80]!r}")
    return user + at, _decode(host)


def _decode(text: str) -> str:
    return unquote_to_bytes(text).decode(errors="replace")
