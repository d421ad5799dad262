"""The name formats of Kubernetes (RFC 1123 labels and subdomains, qualified names, label values, C identifiers).

Each `..._problems` function returns what is wrong with a text, or an empty list if it is fine. Lengths are in bytes.
"""

from __future__ import annotations

import re

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

LABEL_MAX = 63
SUBDOMAIN_MAX = 253

_NAME_PART_RULE = (
    "must consist of letters, digits, '-', '_' or '.', and start and end with a letter or digit "
    "(e.g. 'MyName', 'my.name')"
)


def byte_length(text: str) -> int:
    """Return the length in bytes of UTF-8, in which Kubernetes counts (lone surrogates count three)."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def max_bytes(limit: int) -> str:
    """Return the text for a value that is too long."""
    return f"must be no more than {limit} bytes"


def label_problems(text: str) -> list[str]:
    """Check a lowercase RFC 1123 label: the name of a request, a device, a counter."""
    problems = [max_bytes(LABEL_MAX)] if byte_length(text) > LABEL_MAX else []
    if not _LABEL.fullmatch(text):
        if _SUBDOMAIN.fullmatch(text):
            problems.append("must not contain dots")
        else:
            problems.append(
                "must be a lowercase RFC 1123 label: letters a-z, digits and '-', starting and ending with a letter or "
                "digit (e.g. 'my-name', '123-abc')"
            )
    return problems


def subdomain_problems(text: str) -> list[str]:
    """Check a lowercase RFC 1123 subdomain: the name of most objects."""
    problems = [max_bytes(SUBDOMAIN_MAX)] if byte_length(text) > SUBDOMAIN_MAX else []
    if not _SUBDOMAIN.fullmatch(text):
        problems.append(
            "must be a lowercase RFC 1123 subdomain: letters a-z, digits, '-' and '.', starting and ending with a "
            "letter or digit (e.g. 'example.com')"
        )
    return problems


def qualified_name_problems(text: str) -> list[str]:
    """Check the key of a label, a taint or an annotation: `name` or `domain/name`."""
    parts = text.split("/")
    if len(parts) > 2:
        return [f"{_NAME_PART_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    problems: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            problems.append("prefix part must be non-empty")
        else:
            problems += [f"prefix part {problem}" for problem in subdomain_problems(parts[0])]
    name = parts[-1]
    if not name:
        problems.append("name part must be non-empty")
    elif byte_length(name) > LABEL_MAX:
        problems.append(f"name part {max_bytes(LABEL_MAX)}")
    if not _NAME_PART.fullmatch(name):
        problems.append(f"name part {_NAME_PART_RULE}")
    return problems


def label_value_problems(text: str) -> list[str]:
    """Check the value of a label or taint; empty is fine."""
    problems = [max_bytes(LABEL_MAX)] if byte_length(text) > LABEL_MAX else []
    if text and not _NAME_PART.fullmatch(text):
        problems.append(f"{_NAME_PART_RULE}, or be empty")
    return problems


def c_identifier_problems(text: str) -> list[str]:
    """Check a C identifier: the name of an attribute or capacity without its domain."""
    if _C_IDENTIFIER.fullmatch(text):
        return []
    return ["must be a C identifier: letters, digits and '_', not starting with a digit (e.g. 'my_name', 'MyName')"]


def is_uid(text: str) -> bool:
    """Tell whether a text is a UUID in its normal form (RFC 4122, lower case)."""
    return _UUID.fullmatch(text) is not None
