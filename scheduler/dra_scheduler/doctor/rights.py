"""May we do what we need? One question per verb of the rules in manifests/rbac.yaml and rbac-readonly.yaml."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dra_api.references import RESOURCE_GROUP
from dra_api.transport import Transport, TransportError
from dra_scheduler.client.discovery import Served
from dra_scheduler.client.errors import ClientError
from dra_scheduler.doctor.check import Check
from dra_scheduler.survey.access_review import Permission, may

AT_ONCE = 16
"""Questions under way."""
SHOWN = 6


class Rule(NamedTuple):
    """A resource in a group with what is done to it; `purpose` is the sentence that a lack of it breaks."""

    group: str
    resource: str
    verbs: str
    purpose: str


READING = (
    Rule("", "pods", "get list watch", "who uses devices"),
    Rule("", "nodes", "get list watch", "where devices are"),
    Rule("", "namespaces", "get list watch", "whose claims they are"),
    Rule("", "events", "get list watch", "what was said about pods"),
    Rule(RESOURCE_GROUP, "resourceslices", "get list watch", "which devices there are"),
    Rule(RESOURCE_GROUP, "deviceclasses", "get list watch", "what classes mean"),
    Rule(RESOURCE_GROUP, "resourceclaims", "get list watch", "who holds devices"),
    Rule(RESOURCE_GROUP, "resourceclaimtemplates", "get list watch", "what pods ask for"),
    Rule(RESOURCE_GROUP, "devicetaintrules", "get list watch", "which devices are tainted"),
    Rule("scheduling.k8s.io", "podgroups", "get list watch", "which pods belong together"),
)
"""What the read-only commands need (manifests/rbac-readonly.yaml)."""

SCHEDULING = (
    Rule("", "pods", "get list watch", "see pods"),
    Rule("", "nodes", "get list watch", "see nodes"),
    Rule("", "namespaces", "get list watch", "evaluate pod affinity"),
    Rule("", "pods/binding", "create", "bind pods"),
    Rule("", "pods/status", "patch", "say why a pod is pending"),
    Rule("", "pods/finalizers", "update", "own the claims of extended resources"),
    Rule("events.k8s.io", "events", "create patch update", "write events"),
    Rule(RESOURCE_GROUP, "resourceslices", "get list watch", "see devices"),
    Rule(RESOURCE_GROUP, "deviceclasses", "get list watch", "see classes"),
    Rule(RESOURCE_GROUP, "devicetaintrules", "get list watch", "see taints"),
    Rule(RESOURCE_GROUP, "resourceclaims", "get list watch update patch", "see claims and set their finalizer"),
    Rule(RESOURCE_GROUP, "resourceclaims", "create delete", "make the claims of extended resources"),
    Rule("", "resourcequotas", "get list watch", "see when a quota leaves room for such a claim"),
    Rule(RESOURCE_GROUP, "resourceclaims/status", "get update patch", "allocate and reserve claims"),
    Rule(RESOURCE_GROUP, "resourceclaims/binding", "update patch", "allocate and reserve claims (Kubernetes 1.36+)"),
    Rule("scheduling.k8s.io", "podgroups", "get list watch", "schedule groups of pods"),
    Rule("scheduling.k8s.io", "podgroups/status", "patch update", "say how it went with a group"),
)
"""What the scheduler's ClusterRole has (manifests/rbac.yaml)."""


async def rights(transport: Transport, served: Served) -> list[Check]:
    """Ask for both sets of rules; only those of resources that this server can have."""
    return [
        await _ask(
            transport, "rights-reading", _applicable(READING, served), "problem", "manifests/rbac-readonly.yaml"
        ),
        await _ask(transport, "rights-scheduling", _applicable(SCHEDULING, served), "warning", "manifests/rbac.yaml"),
    ]


def _applicable(rules: Iterable[Rule], served: Served) -> list[Rule]:
    return [rule for rule in rules if rule.resource != "devicetaintrules" or served.taint_rule_version is not None]


async def _ask(transport: Transport, name: str, rules: Sequence[Rule], lack: str, manifest: str) -> Check:
    slots = asyncio.Semaphore(AT_ONCE)

    async def ask(permission: Permission) -> bool:
        async with slots:
            return await may(transport, permission)

    asked = [(rule, Permission(verb, rule.group, rule.resource)) for rule in rules for verb in rule.verbs.split()]
    try:
        answers = await asyncio.gather(*(ask(permission) for _, permission in asked))
    except (ClientError, TransportError) as error:
        return Check(name, "unknown", f"the API server does not say what we may do: {error}")
    missing = [(rule, permission) for (rule, permission), allowed in zip(asked, answers, strict=True) if not allowed]
    if not missing:
        return Check(name, "ok", f"all {len(asked)} permissions of {manifest}")
    first = ", ".join(str(permission) for _, permission in missing[:SHOWN])
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    purposes = ", ".join(dict.fromkeys(rule.purpose for rule, _ in missing[:SHOWN]))
    text = f"this user lacks {len(missing)} of {len(asked)} permissions: {first}{more} (needed to {purposes})"
    if lack == "warning":
        todo = f"nothing, if another user runs the scheduler; else apply {manifest}"
        return Check(name, "warning", text, todo)
    return Check(name, "problem", text.replace("needed to ", "needed to see "), f"apply {manifest}")
