"""What is read of protobuf: the options of a deletion, which Go clients always send so.

Objects in protobuf are not read: for them a server needs the field numbers of every kind. The format (all little): the
mark `k8s` and a zero byte, then a message `Unknown` whose field 2 is the message proper. A message is a row of fields;
each has a key (number * 8 + wire type) and a value: a varint (type 0) or a length and as many bytes (type 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_embedded.status import bad_request

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MARK = b"k8s\x00"
_RAW = 2
_VARINT, _BYTES = 0, 2
_PRECONDITIONS = 2
_DELETE_OPTIONS = {1: "gracePeriodSeconds", 3: "orphanDependents", 4: "propagationPolicy", 5: "dryRun"}
"""Field numbers of meta/v1 DeleteOptions; 2 is a message of its own."""
_UID, _RESOURCE_VERSION = 1, 2
_NO_OPTIONS = "the body is no DeleteOptions in protobuf"


def delete_options(body: bytes) -> dict[str, Any]:
    """The DeleteOptions in a body, as JSON has them. Raises StatusError (400) for what is none."""
    if not body.startswith(_MARK):
        raise bad_request("the body is not protobuf of Kubernetes: it does not begin with k8s")
    raw = b"".join(_message(value) for number, value in _fields(body[len(_MARK) :]) if number == _RAW)
    options: dict[str, Any] = {}
    for number, value in _fields(raw):
        name = _DELETE_OPTIONS.get(number)
        if number == _PRECONDITIONS:
            options["preconditions"] = _preconditions(_message(value))
        elif name == "gracePeriodSeconds":
            seconds = _number(value)
            options[name] = seconds - (1 << 64) if seconds >> 63 else seconds
        elif name == "orphanDependents":
            options[name] = bool(_number(value))
        elif name == "propagationPolicy":
            options[name] = _text(value)
        elif name == "dryRun":
            options.setdefault(name, []).append(_text(value))
    return options


def _preconditions(message: bytes) -> dict[str, str]:
    names = {_UID: "uid", _RESOURCE_VERSION: "resourceVersion"}
    return {names[number]: _text(value) for number, value in _fields(message) if number in names}


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field. Raises StatusError (400) where the message is cut or of another wire type."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        value, position = _varint(message, position)
        if key & 7 == _VARINT:
            yield key >> 3, value
        elif key & 7 == _BYTES and position + value <= len(message):
            yield key >> 3, message[position : position + value]
            position += value
        else:
            raise bad_request(_NO_OPTIONS)


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """A number of up to 64 bits, seven in each byte, the lowest first; and where it ends."""
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(message):
            break
        byte = message[position]
        number, position = number | (byte & 0x7F) << shift, position + 1
        if not byte & 0x80:
            return number & (1 << 64) - 1, position
    raise bad_request("the body ends within a number of its protobuf")


def _number(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise bad_request(_NO_OPTIONS)
    return value


def _message(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise bad_request(_NO_OPTIONS)
    return value


def _text(value: int | bytes) -> str:
    try:
        return _message(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request("the body has text that is not UTF-8") from error
