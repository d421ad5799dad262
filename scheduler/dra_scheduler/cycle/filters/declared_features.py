"""The filter over what nodes declare to have: features of their kubelet and runtime that a pod requires (KEP-5328)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dra_scheduler.cache.cluster import Cluster
from dra_scheduler.cache.pod_info import PodInfo
from dra_scheduler.cache.required_features import DECLARED_SINCE
from dra_scheduler.cycle.diagnosis import Diagnosis

GATE = "NodeDeclaredFeatures"
LACKING = "node(s) didn't match Pod's required features"


def filter_features(pod: PodInfo, cluster: Cluster, diagnosis: Diagnosis) -> None:
    """Take out the nodes that do not declare all that the pod requires."""
    asked = asked_features(pod, cluster)
    if not asked:
        return
    failed = np.zeros(cluster.nodes.rows, np.bool_)
    for feature in asked:
        failed |= ~cluster.nodes.declaring(feature)
    diagnosis.lacking = diagnosis.drop("NodeDeclaredFeatures", failed, LACKING)


def asked_features(pod: PodInfo, cluster: Cluster) -> Sequence[str]:
    """Return which features the pod's node has to declare, in this cluster with its gates and its version."""
    if not pod.required_features or not cluster.gates.enabled(GATE):
        return ()
    return sorted(feature for feature in pod.required_features if DECLARED_SINCE[feature] <= cluster.gates.minor)
