"""Who rejects pods: kube-scheduler's plugin names, as in its metrics and texts."""

from __future__ import annotations

from typing import Literal

Plugin = Literal[
    "DynamicResources",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    "NodeName",
    "NodePorts",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "SchedulingGates",
    "TaintToleration",
    "InterPodAffinity",
    "PodTopologySpread",
    "VolumeBinding",
    "GangScheduling",
    "ResourceQuota",
]
