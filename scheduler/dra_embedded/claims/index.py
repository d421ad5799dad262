"""Which pods use a claim or a template, and which claims were made for a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_embedded.claims.names import CLAIM_NAME_ANNOTATION, claims_of, group_name, owning_group, owning_pod
from dra_embedded.clients.informer import key_of

Object = dict[str, Any]


class _Groups:
    """Members by group, in the order in which they came."""

    def __init__(self) -> None:
        self._members: dict[str, dict[str, None]] = {}

    def of(self, group: str) -> list[str]:
        return list(self._members.get(group, ()))

    def move(self, member: str, old: list[str], new: list[str]) -> None:
        for group in old:
            if group not in new:
                members = self._members.get(group, {})
                members.pop(member, None)
                if not members:
                    self._members.pop(group, None)
        for group in new:
            self._members.setdefault(group, {})[member] = None


class Index:
    """Kept up to date by the controller's informers; keys are `namespace/name`."""

    def __init__(self) -> None:
        self._by_claim = _Groups()
        self._by_template = _Groups()
        self._by_owner = _Groups()
        self._by_group = _Groups()
        self._groups_by_template = _Groups()
        self._groups_by_claim = _Groups()

    def pod_changed(self, old: Object | None, new: Object | None) -> None:
        """A pod came, changed or went."""
        pod = new if new is not None else old
        if pod is not None:
            key = key_of(pod)
            self._by_claim.move(key, _claims(old), _claims(new))
            self._by_template.move(key, _templates(old), _templates(new))
            self._by_group.move(key, _group(old), _group(new))

    def group_changed(self, old: Object | None, new: Object | None) -> None:
        """A PodGroup came, changed or went."""
        group = new if new is not None else old
        if group is not None:
            key = key_of(group)
            self._groups_by_claim.move(key, _claims(old), _claims(new))
            self._groups_by_template.move(key, _templates(old), _templates(new))

    def claim_changed(self, old: Object | None, new: Object | None) -> None:
        """A claim came, changed or went."""
        claim = new if new is not None else old
        if claim is not None:
            self._by_owner.move(key_of(claim), _owner(old), _owner(new))

    def pods_of_claim(self, claim: str) -> list[str]:
        """The pods that use a claim."""
        return self._by_claim.of(claim)

    def pods_of_template(self, template: str) -> list[str]:
        """The pods with a claim from a template."""
        return self._by_template.of(template)

    def pods_of_group(self, group: str) -> list[str]:
        """The pods of a PodGroup."""
        return self._by_group.of(group)

    def groups_of_claim(self, claim: str) -> list[str]:
        """The PodGroups that have a claim."""
        return self._groups_by_claim.of(claim)

    def groups_of_template(self, template: str) -> list[str]:
        """The PodGroups with a claim from a template."""
        return self._groups_by_template.of(template)

    def claim_made_for(self, owner_uid: str, entry: str, claims: Mapping[str, Object]) -> Object | None:
        """The claim that was made for an entry of a pod's or PodGroup's spec.resourceClaims."""
        for key in self._by_owner.of(owner_uid):
            claim = claims.get(key)
            if claim and (claim["metadata"].get("annotations") or {}).get(CLAIM_NAME_ANNOTATION) == entry:
                return claim
        return None


def _claims(pod: Object | None) -> list[str]:
    return [] if pod is None else [f"{pod['metadata']['namespace']}/{name}" for name in claims_of(pod)]


def _templates(pod: Object | None) -> list[str]:
    if pod is None:
        return []
    names = [entry.get("resourceClaimTemplateName") for entry in pod["spec"].get("resourceClaims") or ()]
    return [f"{pod['metadata']['namespace']}/{name}" for name in names if name is not None]


def _owner(claim: Object | None) -> list[str]:
    owner = None if claim is None else owning_pod(claim) or owning_group(claim)
    return [] if owner is None else [owner[1]]


def _group(pod: Object | None) -> list[str]:
    name = None if pod is None else group_name(pod)
    return [] if pod is None or name is None else [f"{pod['metadata']['namespace']}/{name}"]
