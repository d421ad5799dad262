"""What an explanation says besides devices: what speaks against the nodes that have them, which objects are missing.

Worked out when somebody asks, for the pod and the cluster as they are then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dra_allocator.allocator import Allocator
from dra_allocator.claim import ResourceClaim
from dra_allocator.rejection import Elsewhere, Explain, Explanation, Missing, Pinned
from dra_cel.suggestion import closest
from dra_scheduler.cache.claim_store import Claim, ClaimStore
from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.label_columns import BoolArray
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cycle.decision import Reject
from dra_scheduler.cycle.filters.claims import NOT_AVAILABLE, usable
from dra_scheduler.cycle.filters.declared_features import LACKING, asked_features
from dra_scheduler.cycle.filters.placement import UNTOLERATED
from dra_scheduler.cycle.pod_claims import PodClaims
from dra_scheduler.cycle.question import Questioner
from dra_scheduler.cycle.traced import TracedDiagnosis

_NO_NODES = np.empty(0, np.int32)
_NAMED = 3
_COMPARED = 256
"""Claims of the namespace whose names are compared with one that is missing."""


@dataclass(frozen=True, slots=True)
class Explainers:
    """What explaining needs."""

    cluster: Cluster
    allocator: Allocator
    questioner: Questioner

    def of_devices(self, pod: PodInfo, claims: PodClaims, reject: Reject) -> Reject:
        """Return the rejection by the allocator with an explanation that knows about the filters, too."""
        if reject.explain is None:
            return reject
        return replace(reject, explain=Circumstances(self, pod, claims, reject.explain))

    def of_filters(self, pod: PodInfo, claims: PodClaims, reject: Reject) -> Reject:
        """Return a rejection before the allocator was asked with an explanation: which nodes would have had devices."""
        specs = [claim.spec for claim in claims.unallocated if claim.spec is not None]
        devices = _Unasked(self.allocator, self.cluster, tuple(specs)) if specs else None
        if devices is None and not claims.allocated:
            return reject
        return replace(reject, explain=Circumstances(self, pod, claims, devices))


@dataclass(frozen=True, slots=True)
class _Unasked:
    """An `Explain` of claims for which no node was left, made when it is asked for."""

    allocator: Allocator
    cluster: Cluster
    claims: tuple[ResourceClaim, ...]

    def __call__(self, node: str | None = None, /) -> Explanation:
        return self.allocator.explain(self.cluster.view(), self.claims, _NO_NODES)(node)


class Circumstances:
    """An `Explain` that knows about the other filters as well."""

    def __init__(self, explainers: Explainers, pod: PodInfo, claims: PodClaims, devices: Explain | None) -> None:
        self._cluster = explainers.cluster
        self._questioner = explainers.questioner
        self._pod = pod
        self._claims = claims
        self._devices = devices
        self._known: Explanation | None = None

    def __call__(self, node: str | None = None, /) -> Explanation:
        """See `Explain`."""
        if node is not None:
            return self._made(node)
        if self._known is None:
            self._known = self._made(None)
        return self._known

    def _made(self, node: str | None) -> Explanation:
        told = Explanation(0) if self._devices is None else self._devices(node)
        if told.elsewhere is None and not self._claims.allocated:
            return told
        traced = TracedDiagnosis(self._cluster.nodes)
        if self._pod.node_name:
            return told
        self._questioner.filter(self._pod, self._claims, traced)
        elsewhere = None if told.elsewhere is None else self._elsewhere(told.elsewhere, traced)
        return replace(told, elsewhere=elsewhere, pinned=tuple(self._pinned(traced)))

    def _elsewhere(self, found: Elsewhere, traced: TracedDiagnosis) -> Elsewhere:
        table = self._cluster.nodes
        rows = np.zeros(table.rows, np.bool_)
        rows[[row for row in map(table.row, found.names) if row is not None]] = True
        self._say_taints(traced, rows)
        self._say_features(traced, rows)
        who = {reason: self._names(out & rows) for reason, out in traced.reasons.items() if (out & rows).any()}
        return replace(found, why=traced.among(rows), who=who)

    def _names(self, rows: BoolArray) -> tuple[str, ...]:
        return tuple(map(self._cluster.nodes.name, np.flatnonzero(rows)[:_NAMED].tolist()))

    def _say_taints(self, traced: TracedDiagnosis, rows: BoolArray) -> None:
        """Have the reason say which taint it is that the pod does not tolerate, where that is one for these nodes."""
        out = traced.reasons.get(UNTOLERATED)
        if out is None or not (out & rows).any():
            return
        table, selection = self._cluster.nodes, self._pod.selection
        classes = np.unique(table.taint_class[out & rows])[:_NAMED].tolist()
        taints = dict.fromkeys(
            one for number in classes for one in table.taint_classes[number] if not selection.tolerated((one,))
        )
        if len(taints) <= _NAMED:
            said = ", ".join(f"{one.key}{f'={one.value}' if one.value else ''}:{one.effect}" for one in taints)
            traced.reasons[f"{UNTOLERATED} ({said})"] = traced.reasons.pop(UNTOLERATED)

    def _say_features(self, traced: TracedDiagnosis, rows: BoolArray) -> None:
        """Have the reason say which features it is that these nodes do not declare."""
        out = traced.reasons.get(LACKING)
        if out is None or not (out & rows).any():
            return
        table = self._cluster.nodes
        asked = asked_features(self._pod, self._cluster)
        lacking = [feature for feature in asked if not table.declaring(feature)[out & rows].all()]
        traced.reasons[f"{LACKING} ({', '.join(lacking)})"] = traced.reasons.pop(LACKING)

    def _pinned(self, traced: TracedDiagnosis) -> Iterator[Pinned]:
        """Yield the allocated claims that cannot be used on every node."""
        table = self._cluster.nodes
        for claim in self._claims.allocated:
            allocation = claim.effective
            if allocation is None:
                continue
            rows: BoolArray = usable(allocation, table) & table.present
            if rows.all() or (rows == table.present).all():
                continue
            numbers = np.flatnonzero(rows)
            yield Pinned(
                f"{claim.namespace}/{claim.name}",
                tuple(one.device for one in allocation.devices),
                tuple(table.name(row) for row in numbers[:_NAMED].tolist()),
                len(numbers),
                traced.among(rows, ignore=(NOT_AVAILABLE,)),
            )


@dataclass(frozen=True, slots=True)
class MissingClaims:
    """An `Explain` of a pod whose claims are not there."""

    pod: PodInfo
    claims: ClaimStore

    def __call__(self, node: str | None = None, /) -> Explanation:
        """See `Explain`."""
        return Explanation(0, missing=tuple(_missing(self.pod, self.claims)))


def _missing(pod: PodInfo, claims: ClaimStore) -> Iterator[Missing]:
    for entry in pod.claims:
        if entry.from_template:
            if entry.problem:
                yield Missing("ResourceClaim", entry.name, template=entry.template_name)
        elif entry.claim_name and claims.get(pod.namespace, entry.claim_name) is None:
            names = _names(pod, claims)
            yield Missing(
                "ResourceClaim",
                entry.claim_name,
                suggestion=closest(entry.claim_name, names) or "",
                others=names[:_NAMED],
            )


def _names(pod: PodInfo, claims: Iterable[Claim]) -> tuple[str, ...]:
    """Return the names of the namespace's claims that no template has made."""
    found = (claim.name for claim in claims if claim.namespace == pod.namespace and not claim.owner_uid)
    return tuple(sorted(name for name, _ in zip(found, range(_COMPARED), strict=False)))
