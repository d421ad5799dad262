"""The shapes of Kubernetes' own kinds, from the names and types of their fields (`published_fields.json`).

The file is written by `tools/published_fields.py`; it has facts only: which fields there are, and of which type.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from dra_api.schema import Fields, Map, Schema

_SCALARS = frozenset({"string", "integer", "boolean", "quantity", "time", "any"})
_METADATA = "meta.v1.ObjectMeta"


class PublishedShapes:
    """The shapes by kind; `metadata` is what every kind's metadata looks like."""

    def __init__(self, metadata: Fields) -> None:
        content = orjson.loads((Path(__file__).parent / "published_fields.json").read_bytes())
        self._kinds: dict[str, str] = content["kinds"]
        self._types: dict[str, dict[str, Any]] = content["types"]
        self._made: dict[str, Fields] = {_METADATA: metadata}

    def of(self, kind: str) -> Fields | None:
        """The shape of a kind in its storage version; None: not known. Has neither `kind` nor `apiVersion`."""
        name = self._kinds.get(kind)
        if name is None:
            return None
        fields = self._type(name).fields
        return Fields({key: value for key, value in fields.items() if key not in ("kind", "apiVersion")})

    def _type(self, name: str) -> Fields:
        if name not in self._made:
            # Entered before its fields are known, so that a type may have itself inside.
            self._made[name] = Fields({})
            self._made[name].fields.update((key, self._schema(value)) for key, value in self._types[name].items())
        return self._made[name]

    def _schema(self, value: Any) -> Schema:
        if isinstance(value, list):
            return [self._schema(value[0])]
        if isinstance(value, dict):
            return Map(self._schema(value[""]))
        return value if value in _SCALARS else self._type(value)
