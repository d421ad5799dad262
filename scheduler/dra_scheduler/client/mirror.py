"""The objects of one kind as last seen, and the differences handed on.

A handler sees every object as a sequence  None -> a -> b -> ... -> None  with one uid throughout, whatever happened to
the connection in between: what was missed shows as one step, what did not change as none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Set
from typing import Protocol

from dra_api.errors import ApiError, DecodeError
from dra_scheduler.client.api import Object

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""

log = logging.getLogger(__name__)


class Handler(Protocol):
    """Whoever wants to know what changed."""

    def apply(self, old: Object | None, new: Object | None) -> None:
        """`old` None: it is new. `new` None: it is gone. Called on the loop, so it has to be quick.

        Raises a `dra_api.errors.ApiError` when it cannot read `new`, before it changed anything: the object is then
        reported and skipped, and if there was an `old`, it is taken away with a second call.
        """
        ...


class Mirror:
    """Objects of one kind. `convert` makes what the handler sees, `keep` what is remembered of it as `old`.

    `keep` has to keep metadata.namespace, name, uid and resourceVersion; the rest may go to save memory. `known` says
    of a version whether the handler has learnt it already (from the answer to a write, which comes again as an event):
    then the handler would make nothing of it, and does not get it.
    """

    def __init__(
        self,
        kind: str,
        handler: Handler,
        convert: Callable[[Object], Object] | None = None,
        keep: Callable[[Object], Object] = lambda obj: obj,
        known: Callable[[Object], bool] = lambda obj: False,
    ) -> None:
        self._kind = kind
        self._handler = handler
        self._convert = convert
        self._keep = keep
        self._known = known
        self._kept: dict[Key, Object] = {}
        self.unreadable: dict[Key, str] = {}
        """Objects that are skipped, and why."""

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, obj: Object) -> Key:
        """Take in the present state of an object."""
        meta = obj.get("metadata")
        meta = meta if isinstance(meta, dict) else {}
        key = (str(meta.get("namespace") or ""), str(meta.get("name") or ""))
        old = self._kept.get(key)
        if old is not None:
            known = old["metadata"]
            if known["uid"] != meta.get("uid"):
                self.remove(key)  # deleted and created anew while nobody was looking
                old = None
            elif known["resourceVersion"] == meta.get("resourceVersion"):
                return key
            elif self._known(obj):
                self._kept[key] = self._keep(obj)
                return key
        try:
            for field in ("name", "uid", "resourceVersion"):
                if not isinstance(meta.get(field), str) or not meta[field]:
                    raise DecodeError(f"metadata.{field}", "required", kind=self._kind, namespace=key[0], name=key[1])
            new = self._convert(obj) if self._convert is not None else obj
            self._handler.apply(old, new)
        except ApiError as error:
            self._skip(key, error)
            return key
        self._kept[key] = self._keep(new)
        self.unreadable.pop(key, None)
        return key

    def remove(self, key: Key) -> None:
        """An object is gone."""
        self.unreadable.pop(key, None)
        old = self._kept.pop(key, None)
        if old is not None:
            self._handler.apply(old, None)

    def missing(self, present: Set[Key]) -> list[Key]:
        """Known objects that are not among those that a complete list has."""
        return [key for key in (*self._kept, *self.unreadable) if key not in present]

    def _skip(self, key: Key, error: ApiError) -> None:
        """Report an unreadable object, once for each problem, and forget what it was before."""
        known = self.unreadable.get(key)
        self.remove(key)
        self.unreadable[key] = str(error)
        if known != str(error):
            name = "/".join(part for part in key if part)
            log.warning("object skipped kind=%s name=%s problem=%s", self._kind, name or "(none)", error)
