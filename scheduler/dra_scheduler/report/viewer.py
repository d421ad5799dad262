"""Who reads an explanation, and so which claims it may name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dra_scheduler.cache.claim_store import ClaimStore

NameOf = Callable[[str], tuple[str, str] | None]
"""Namespace and name of the claim with a uid, None if it is not known."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """`namespace` None: whoever runs a command, and sees all claims by name. Else only that namespace's are named."""

    namespace: str | None
    name_of: NameOf

    def names(self, uids: Iterable[str]) -> tuple[list[str], int]:
        """Return the claims that may be named, sorted, and how many others there are."""
        named: list[str] = []
        others = 0
        for uid in uids:
            found = self.name_of(uid)
            if found is None or self.namespace not in (None, found[0]):
                others += 1
            else:
                named.append(found[1] if self.namespace is not None else f"{found[0]}/{found[1]}")
        return sorted(named), others

    def claim(self, name: str) -> str:
        """Return a claim's name as the viewer knows it: without the namespace if it is the viewer's own."""
        prefix = f"{self.namespace}/"
        return name.removeprefix(prefix) if self.namespace is not None else name


NOBODY = Viewer(None, lambda uid: None)
"""Knows no claim by name."""


def viewer_of(claims: ClaimStore, namespace: str | None) -> Viewer:
    """Return the viewer of a namespace (None: of all) of a cluster with these claims."""
    return Viewer(namespace, claims.name_of)
