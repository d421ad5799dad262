"""What the scheduler reads of a PodGroup (scheduling.k8s.io, KEP-4671), once per version of the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra_scheduler.cache.pod_info import PodClaim
from dra_scheduler.errors import UnreadableObjectError


@dataclass(frozen=True, slots=True)
class GroupClaim:
    """An entry of `spec.resourceClaims`: a claim by name, or one made from a template for the group."""

    name: str
    claim_name: str | None
    template_name: str | None

    def is_same(self, entry: PodClaim) -> bool:
        """Whether an entry of a pod is equal in all three fields, so that the claim is the group's."""
        if self.name != entry.name or (self.template_name or "") != entry.template_name:
            return False
        return entry.from_template or self.claim_name == entry.claim_name


@dataclass(frozen=True, slots=True)
class PodGroup:
    """One version of a PodGroup. `min_count` pods are placed together or none; 1 with the policy `basic`.

    `never_preempts` None: the group leaves that to its pods. `unsupported` says what the group asks for that this
    scheduler does not do ("": nothing). `generated` are the names of claims from templates, by entry.
    """

    uid: str
    namespace: str
    name: str
    generation: int
    gang: bool
    min_count: int
    priority: int
    never_preempts: bool | None
    claims: tuple[GroupClaim, ...]
    generated: Mapping[str, str]
    unsupported: str
    raw: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def claim_names(self) -> tuple[str, ...]:
        """The names of the group's claims, as far as they exist."""
        generated = self.generated
        names = (one.claim_name or (generated.get(one.name) if one.template_name else None) for one in self.claims)
        return tuple(name for name in names if name)

    def owns(self, entry: PodClaim) -> bool:
        """Whether a pod's entry means a claim of the group."""
        return any(claim.is_same(entry) for claim in self.claims)

    def condition(self, name: str) -> Mapping[str, Any] | None:
        """Return a condition as observed."""
        conditions = (self.raw.get("status") or {}).get("conditions") or ()
        return next((each for each in conditions if each.get("type") == name), None)


def pod_group(raw: Mapping[str, Any]) -> PodGroup:
    """Read a PodGroup of any served version. Raises UnreadableObjectError."""
    meta = raw.get("metadata") or {}
    try:
        return _pod_group(raw, meta, raw.get("spec") or {}, raw.get("status") or {})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        namespace, name = str(meta.get("namespace") or ""), str(meta.get("name") or "")
        raise UnreadableObjectError("PodGroup", namespace, name, f"{type(error).__name__}: {error}") from error


def _pod_group(
    raw: Mapping[str, Any], meta: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]
) -> PodGroup:
    policy = spec.get("schedulingPolicy") or {}
    gang = policy.get("gang")
    preemption = spec.get("preemptionPolicy")
    return PodGroup(
        uid=meta["uid"],
        namespace=meta["namespace"],
        name=meta["name"],
        generation=meta.get("generation") or 0,
        gang=gang is not None,
        min_count=1 if gang is None else int(gang["minCount"]),
        priority=spec.get("priority") or 0,
        never_preempts=None if preemption is None else preemption == "Never",
        claims=tuple(
            GroupClaim(each["name"], each.get("resourceClaimName"), each.get("resourceClaimTemplateName"))
            for each in spec.get("resourceClaims") or ()
        ),
        generated={
            each["name"]: each["resourceClaimName"]
            for each in status.get("resourceClaimStatuses") or ()
            if each.get("resourceClaimName")
        },
        unsupported=_unsupported(spec, policy),
        raw=raw,
    )


def _unsupported(spec: Mapping[str, Any], policy: Mapping[str, Any]) -> str:
    """Return what must not be ignored: the pods would be placed as nobody wanted."""
    strange = sorted(key for key, value in policy.items() if value is not None and key not in ("basic", "gang"))
    if strange:
        return f"schedulingPolicy {strange[0]} is not supported by this scheduler"
    for field in ("schedulingConstraints", "parentCompositePodGroupName"):
        if spec.get(field):
            return f"{field} is not supported by this scheduler"
    return ""
