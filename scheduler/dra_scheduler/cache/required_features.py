"""Features that a pod requires of its node's kubelet and container runtime, by the names that nodes declare (KEP-5328).

Kubernetes stops asking for a feature once every supported kubelet has it; as of 1.37 that is said of none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

RESTART_ALL = "RestartAllContainersOnContainerExits"
USERS_ON_HOST_NETWORK = "UserNamespacesHostNetworkSupport"
MOUNT_OPTIONS = "VolumeBindMountOptions"

DECLARED_SINCE: Mapping[str, int] = MappingProxyType({RESTART_ALL: 35, USERS_ON_HOST_NETWORK: 36, MOUNT_OPTIONS: 37})
"""The Kubernetes 1.x whose kubelets are the first to declare each; older ones may have it without a word."""

_NONE: frozenset[str] = frozenset()


def required_features(spec: Mapping[str, Any]) -> frozenset[str]:
    """Read a pod's spec."""
    return frozenset(_required(spec)) or _NONE


def _required(spec: Mapping[str, Any]) -> Iterator[str]:
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        yield USERS_ON_HOST_NETWORK
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(kind) or ():
            if kind != "ephemeralContainers":
                for rule in container.get("restartPolicyRules") or ():
                    if rule.get("action") == "RestartAllContainers":
                        yield RESTART_ALL
            for mount in container.get("volumeMounts") or ():
                if mount.get("bindMountOptions"):
                    yield MOUNT_OPTIONS
