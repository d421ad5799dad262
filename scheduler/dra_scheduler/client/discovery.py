"""What the API server serves: the version of resource.k8s.io that we use, and the server's own version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dra_api.references import POD_GROUP
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import NoResourceApiError, NotFoundError, ResponseError

GROUP = "resource.k8s.io"
PREFERRED = ("v1", "v1beta2", "v1beta1", "v1alpha3")
"""Best first. A version counts only if it lists `resourceclaims`: v1alpha3 of Kubernetes 1.34 and later does not."""

OFF = (
    "the API server serves no {group}: Dynamic Resource Allocation is off. Kubernetes 1.34 and later serve it by "
    "default; Kubernetes 1.31 to 1.33 need the feature gate DynamicResourceAllocation=true on the API server, the "
    "controller manager and the kubelets, and --runtime-config={group}/VERSION=true on the API server"
)
UNKNOWN = "the API server serves {group} in {versions}, but none of these has ResourceClaims that we can read ({known})"


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A Kubernetes version; only major and minor decide what an API server knows."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class Served:
    """What an API server has for us."""

    resource_version: str
    """The version of resource.k8s.io to use for ResourceClaim, ResourceSlice and DeviceClass."""
    taint_rule_version: str | None
    """The version for DeviceTaintRule; None: not served (before Kubernetes 1.33, or switched off)."""
    server: Version
    git_version: str
    """As the server states it, such as `v1.37.2`: for logs."""
    resources: frozenset[str]
    """Plural names (and subresources, `resourceclaims/status`) in `resource_version`."""
    pod_group_version: str | None = None
    """The version of scheduling.k8s.io for PodGroup; None: not served."""


async def discover(api: Api) -> Served:
    """Ask the API server what it serves.

    Raises NoResourceApiError when there is no resource.k8s.io that we know, and whatever Api raises.
    """
    git_version, server = _server_version(await api.get("/version"))
    try:
        group = await api.get(f"/apis/{GROUP}")
    except NotFoundError as error:
        raise NoResourceApiError(OFF.format(group=GROUP)) from error
    offered = _versions(group)
    chosen: tuple[str, frozenset[str]] | None = None
    taint_rules: str | None = None
    for version in PREFERRED:
        if version not in offered:
            continue
        resources = await _resources(api, version)
        if chosen is None and "resourceclaims" in resources:
            chosen = version, resources
        if taint_rules is None and "devicetaintrules" in resources:
            taint_rules = version
        if chosen and taint_rules:
            break
    if chosen is None:
        versions = ", ".join(offered) or "no version"
        raise NoResourceApiError(UNKNOWN.format(group=GROUP, versions=versions, known=", ".join(PREFERRED)))
    return Served(chosen[0], taint_rules, server, git_version, chosen[1])


async def pod_group_version(api: Api) -> str | None:
    """Return the newest version of scheduling.k8s.io with PodGroups that is served and known; None: there is none."""
    try:
        offered = _versions(await api.get(f"/apis/{POD_GROUP.group}"))
    except NotFoundError:
        return None
    for version in POD_GROUP.versions:
        if version in offered and POD_GROUP.plural in await _resources(api, version, POD_GROUP.group):
            return version
    return None


async def _resources(api: Api, version: str, group: str = GROUP) -> frozenset[str]:
    """The plural names in one version; none when the version has gone since the group was read."""
    try:
        answer = await api.get(f"/apis/{group}/{version}")
    except NotFoundError:
        return frozenset()
    items = answer.get("resources")
    if not isinstance(items, list):
        raise ResponseError(f"/apis/{group}/{version}: no list of resources; is this address an API server's?")
    return frozenset(item["name"] for item in items if isinstance(item, dict) and isinstance(item.get("name"), str))


def _versions(group: Mapping[str, Any]) -> list[str]:
    items = group.get("versions")
    if not isinstance(items, list):
        raise ResponseError(f"/apis/{GROUP}: no list of versions; is this address an API server's?")
    return [item["version"] for item in items if isinstance(item, dict) and isinstance(item.get("version"), str)]


def _server_version(answer: Mapping[str, Any]) -> tuple[str, Version]:
    """Read /version; some distributions put a `+` behind the minor version."""
    numbers = [re.match(r"\d+", str(answer.get(key, ""))) for key in ("major", "minor")]
    if numbers[0] is None or numbers[1] is None:
        raise ResponseError("/version: no major and minor version; is this address an API server's?")
    return str(answer.get("gitVersion", "")), Version(int(numbers[0].group()), int(numbers[1].group()))
