"""What the API server says about a field: the kind of error, the field, the bad value, the detail."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ErrorType = Literal[
    "FieldValueRequired",
    "FieldValueInvalid",
    "FieldValueTypeInvalid",
    "FieldValueDuplicate",
    "FieldValueNotSupported",
    "FieldValueNotFound",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueForbidden",
]
"""The reasons of status.details.causes (meta/v1)."""

_TITLES: dict[ErrorType, str] = {
    "FieldValueRequired": "Required value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueTypeInvalid": "Invalid value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueNotFound": "Not found",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "FieldValueForbidden": "Forbidden",
}
_WITHOUT_VALUE = ("FieldValueRequired", "FieldValueTooLong", "FieldValueForbidden")


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error; `str()` is what the server prints: `spec.devices.requests[0].name: Required value`."""

    type: ErrorType
    field: str
    value: Any = None
    detail: str = ""

    @property
    def message(self) -> str:
        """The text without the field, as in status.details.causes."""
        text = _TITLES[self.type]
        if self.type not in _WITHOUT_VALUE:
            text += f": {json.dumps(self.value, ensure_ascii=False, separators=(',', ':'), default=str)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def required(field: str, detail: str = "") -> FieldError:
    """The field must be set."""
    return FieldError("FieldValueRequired", field, "", detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """The value is malformed or out of bounds."""
    return FieldError("FieldValueInvalid", field, value, detail)


def duplicate(field: str, value: Any) -> FieldError:
    """The value must be unique in its list."""
    return FieldError("FieldValueDuplicate", field, value)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """The value is none of the known ones."""
    known = ", ".join(json.dumps(name) for name in supported)
    return FieldError("FieldValueNotSupported", field, value, f"supported values: {known}")


def not_found(field: str, value: Any) -> FieldError:
    """The value refers to something that is not there."""
    return FieldError("FieldValueNotFound", field, value)


def too_long(field: str, limit: int) -> FieldError:
    """The value has too many bytes; it is not shown."""
    return FieldError("FieldValueTooLong", field, None, f"may not be more than {limit} bytes")


def too_many(field: str, count: int, limit: int) -> FieldError:
    """The list has too many items."""
    return FieldError("FieldValueTooMany", field, count, f"must have at most {limit} items")


def forbidden(field: str, detail: str) -> FieldError:
    """The value is not allowed as things are."""
    return FieldError("FieldValueForbidden", field, None, detail)


def immutable(field: str, new: Any, old: Any) -> Iterable[FieldError]:
    """Report a field that has changed and must not."""
    return () if new == old else (invalid(field, new, "field is immutable"),)


def summary(kind: str, group: str, name: str, errors: Sequence[FieldError]) -> str:
    """Return the message of the server's answer 422 for these errors."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    qualified = f"{kind}.{group}" if group else kind
    return f"{qualified} {json.dumps(name)} is invalid: {joined}"
