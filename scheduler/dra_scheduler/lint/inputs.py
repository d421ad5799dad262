"""What rules look at: the documents, by kind and name, and what is worked out of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from dra_allocator.claim import DeviceClass
from dra_api import decode
from dra_api.errors import DecodeError
from dra_api.manifests import Document
from dra_scheduler.feature_gates import FeatureGates
from dra_scheduler.lint.judge import BoolArray, Judge, Step, left_after
from dra_scheduler.lint.published import Published, published
from dra_scheduler.lint.sources import (
    Ask,
    ClaimSource,
    PodSource,
    claim_source,
    claimant,
    namespace_of,
    pod_source,
)
from dra_scheduler.lint.surroundings import SOURCE

T = TypeVar("T")
Name = tuple[str, str, str]
"""Kind, namespace (empty for cluster-scoped kinds and where it is not known) and name."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known about objects that are not among the documents.

    Attributes:
        whole: kinds of which every object is among the documents, as in a cluster: what is not there does not exist.
        unread: objects that are there and could not be read.
        has_gaps: some text could not be read at all, so that anything may be in it.
        minor: the documents are for Kubernetes 1.`minor`.

    """

    gates: FeatureGates
    minor: int
    whole: frozenset[str] = frozenset()
    unread: frozenset[Name] = frozenset()
    has_gaps: bool = False


@dataclass(frozen=True, slots=True)
class ClassSource:
    """A DeviceClass with its document."""

    document: Document
    device_class: DeviceClass


class Inputs:
    """The documents and everything that rules ask of them."""

    def __init__(self, documents: Sequence[Document], scope: Scope) -> None:
        self.documents = documents
        self.scope = scope
        self._shared: dict[object, object] = {}
        self._matching: dict[tuple[str, tuple[str, ...]], BoolArray | None] = {}

    def shared(self, work: Callable[[Inputs], T]) -> T:
        """Return the result of work that several rules need; it is done once."""
        if work not in self._shared:
            self._shared[work] = work(self)
        result: T = self._shared[work]  # type: ignore[assignment]
        return result

    def is_stored(self, document: Document) -> bool:
        """Tell whether an API server has accepted the object already."""
        return document.source == SOURCE

    def of_kind(self, *kinds: str) -> list[Document]:
        """Return the documents of these kinds, in order."""
        return [document for document in self.documents if document.object["kind"] in kinds]

    def find(self, kind: str, namespace: str, name: str) -> Document | None:
        """Return an object by its name, or None."""
        return self._by_name.get((kind, namespace, name))

    def knows(self, kind: str) -> bool:
        """Tell whether an object of this kind that is not found does not exist either.

        From files that is so where at least one object of the kind is given and everything could be read.
        """
        if self.scope.has_gaps:
            return False
        return kind in self.scope.whole or any(key[0] == kind for key in self._by_name)

    def is_missing(self, kind: str, namespace: str, name: str) -> bool:
        """Tell whether an object is named and certainly does not exist."""
        if not self.knows(kind) or self.find(kind, namespace, name) is not None:
            return False
        return not {(kind, namespace, name), (kind, "", name)} & self.scope.unread

    @cached_property
    def _by_name(self) -> dict[Name, Document]:
        namespaced = ("ResourceClaim", "ResourceClaimTemplate", "Pod")
        result: dict[Name, Document] = {}
        for document in self.documents:
            kind, name = document.object["kind"], document.object["metadata"].get("name")
            if isinstance(name, str) and name:
                result.setdefault((kind, namespace_of(document) if kind in namespaced else "", name), document)
        return result

    @cached_property
    def claims(self) -> list[ClaimSource]:
        """All claims and templates that can be read."""
        return _present(claim_source(one) for one in self.of_kind("ResourceClaim", "ResourceClaimTemplate"))

    @cached_property
    def _claim_of(self) -> dict[int, ClaimSource]:
        return {id(source.document): source for source in self.claims}

    def claim_of(self, document: Document | None) -> ClaimSource | None:
        """Return the claim of a document, or None where it has none that can be read."""
        return self._claim_of.get(id(document))

    @cached_property
    def pods(self) -> list[PodSource]:
        """All pods, those of workloads included."""
        return _present(pod_source(document) for document in self.documents)

    @cached_property
    def claimants(self) -> list[PodSource]:
        """The pods, and the PodGroups, which name claims as pods do."""
        return _present(claimant(document) for document in self.documents)

    @cached_property
    def classes(self) -> dict[str, ClassSource]:
        """The DeviceClasses that can be read, by name."""
        result = {}
        for document in self.of_kind("DeviceClass"):
            try:
                found = decode.device_class(document.object)
            except DecodeError:
                continue  # reported by the rules of the API
            if found.unsupported is None:
                result[found.name] = ClassSource(document, found)
        return result

    @cached_property
    def published(self) -> Published:
        """What the ResourceSlices publish."""
        return published(self.of_kind("ResourceSlice"))

    @property
    def knows_devices(self) -> bool:
        """Tell whether everything that is published is known, and something is."""
        found = self.published
        complete = self.knows("ResourceSlice") and not found.is_partial
        return complete and bool(found.devices) and not any(one[0] == "ResourceSlice" for one in self.scope.unread)

    @cached_property
    def judge(self) -> Judge:
        """Evaluates selectors over the published devices."""
        return Judge([one.fields for one in self.published.devices])

    def class_steps(self, name: str) -> list[Step] | None:
        """Return what the selectors of a class do; None where that cannot be told."""
        source = self.classes.get(name)
        return None if source is None else self.judge.chain(source.device_class.selectors)

    def matching_class(self, name: str) -> BoolArray | None:
        """Return the devices of a class; None where that cannot be told."""
        steps = self.class_steps(name)
        return None if steps is None else left_after(steps, self.judge.everything())

    def matching(self, ask: Ask) -> BoolArray | None:
        """Return the devices that a request's class and selectors match; None where that cannot be told."""
        key = (ask.request.device_class, ask.request.selectors)
        if key not in self._matching:
            start = self.matching_class(ask.request.device_class)
            steps = None if start is None else self.judge.chain(ask.request.selectors, start)
            self._matching[key] = None if steps is None or start is None else left_after(steps, start)
        return self._matching[key]


def _present(found: Iterable[T | None]) -> list[T]:
    return [one for one in found if one is not None]
