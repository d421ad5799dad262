"""The statuses that a kubelet reports for a pod."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_ALWAYS = ("Initialized", "PodReadyToStartContainers")


def started(pod: Object, now: str, *, restarts: int = 0) -> Object:
    """All containers run and are ready."""
    status: Object = {"phase": "Running", "conditions": _conditions(pod, now, ready=True)}
    status["startTime"] = (pod.get("status") or {}).get("startTime") or now
    status["containerStatuses"] = [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": restarts,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]
    return status


def ended(pod: Object, now: str, exit_code: int) -> Object:
    """All containers have ended for good."""
    phase, reason = ("Succeeded", "Completed") if exit_code == 0 else ("Failed", "Error")
    status: Object = {"phase": phase, "conditions": _conditions(pod, now, ready=False)}
    terminated = {"exitCode": exit_code, "reason": reason, "finishedAt": now}
    before = {each["name"]: each for each in (pod.get("status") or {}).get("containerStatuses") or ()}
    status["containerStatuses"] = [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": False,
            "started": False,
            "restartCount": before.get(container["name"], {}).get("restartCount", 0),
            "state": {"terminated": terminated},
        }
        for container in pod["spec"]["containers"]
    ]
    return status


def restarts_of(pod: Object) -> int:
    """How often the pod's first container was started again."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
    return int(statuses[0].get("restartCount", 0))


def restarts(pod: Object, exit_code: int) -> bool:
    """Whether the pod's containers are started again after they ended with this code."""
    policy = pod["spec"].get("restartPolicy", "Always")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _conditions(pod: Object, now: str, *, ready: bool) -> list[Object]:
    """The kubelet's conditions beside those that others wrote; a transition time changes with its condition only."""
    present = {each["type"]: each for each in (pod.get("status") or {}).get("conditions") or ()}
    wanted = {**dict.fromkeys(_ALWAYS, True), "ContainersReady": ready, "Ready": ready}
    for kind, value in wanted.items():
        word = "True" if value else "False"
        if present.get(kind, {}).get("status") != word:
            present[kind] = {"type": kind, "status": word, "lastProbeTime": None, "lastTransitionTime": now}
            if not value:
                present[kind]["reason"] = "PodCompleted"
    return list(present.values())
