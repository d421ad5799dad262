"""Defaults of a Pod as the API server writes them (core/v1), as far as schedulers, kubelets and people see them."""

from __future__ import annotations

from typing import Any

from dra_api.quantity import Quantity

Object = dict[str, Any]

_NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def default_pod(pod: Object) -> None:
    """Fill in spec defaults in place; nested dicts that change are replaced."""
    if pod.get("spec") is None:
        pod["spec"] = {}  # for validation to find what is missing in it
    spec = pod["spec"]
    if not isinstance(spec, dict):
        return
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("enableServiceLinks", True)
    for field in ("initContainers", "containers"):
        containers = spec.get(field)
        if isinstance(containers, list):
            spec[field] = [_container(each) if isinstance(each, dict) else each for each in containers]


def add_default_tolerations(pod: Object) -> None:
    """Tolerate an unready or unreachable node for 300 s (admission plugin DefaultTolerationSeconds)."""
    spec = pod["spec"]
    tolerations = list(spec.get("tolerations") or ())
    for key in _NOT_READY:
        if not any(_tolerates(each, key) for each in tolerations):
            each = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            tolerations.append(each)
    spec["tolerations"] = tolerations


def qos_class(pod: Object) -> str:
    """Guaranteed, Burstable or BestEffort from the containers' cpu and memory."""
    limits_seen = requests_seen = False
    guaranteed = True
    containers = [*(pod["spec"].get("containers") or ()), *(pod["spec"].get("initContainers") or ())]
    for container in containers:
        resources = container.get("resources") or {}
        requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
        for name in ("cpu", "memory"):
            has_request, has_limit = _positive(requests.get(name)), _positive(limits.get(name))
            requests_seen |= has_request
            limits_seen |= has_limit
            if not has_limit or (has_request and _amount(requests[name]) != _amount(limits[name])):
                guaranteed = False
    if not requests_seen and not limits_seen:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests_seen else "Burstable"


def _container(container: Object) -> Object:
    filled = {
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **container,
    }
    if "imagePullPolicy" not in container:
        filled["imagePullPolicy"] = _pull_policy(container.get("image"))
    resources = filled["resources"]
    if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
        requests = resources.get("requests")
        if requests is None or isinstance(requests, dict):
            filled["resources"] = {**resources, "requests": {**resources["limits"], **(requests or {})}}
    if isinstance(filled.get("ports"), list):
        filled["ports"] = [{"protocol": "TCP", **port} if isinstance(port, dict) else port for port in filled["ports"]]
    return filled


def _pull_policy(image: object) -> str:
    if not isinstance(image, str) or "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _tolerates(toleration: object, key: str) -> bool:
    if not isinstance(toleration, dict):
        return False
    return toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")


def _amount(text: object) -> int:
    return Quantity.parse(str(text)).nanos


def _positive(text: object) -> bool:
    return text is not None and _amount(text) > 0
