"""Defaults that the API server fills in (resource.k8s.io/v1)."""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]


def with_defaults(obj: Raw, now: str) -> Raw:
    """Return an object with the server's defaults; the given one is not changed.

    `now` is the time of day as RFC 3339 text, for the time at which a taint was added.
    """
    kind = obj.get("kind")
    spec: Raw = obj.get("spec") or {}
    if kind == "ResourceClaim":
        return {**obj, "spec": _claim_spec(spec), **_claim_status(obj)}
    if kind == "ResourceClaimTemplate":
        return {**obj, "spec": {**spec, "spec": _claim_spec(spec.get("spec") or {})}}
    if kind == "ResourceSlice" and spec.get("devices"):
        devices = [_device(device, now) for device in spec["devices"]]
        return {**obj, "spec": {**spec, "devices": devices}}
    if kind == "DeviceTaintRule" and spec.get("taint"):
        return {**obj, "spec": {**spec, "taint": _taint(spec["taint"], now)}}
    return obj


def _claim_spec(spec: Raw) -> Raw:
    devices: Raw = spec.get("devices") or {}
    if not devices.get("requests"):
        return spec
    return {**spec, "devices": {**devices, "requests": [_request(request) for request in devices["requests"]]}}


def _claim_status(obj: Raw) -> Raw:
    status: Raw = obj.get("status") or {}
    allocation: Raw = status.get("allocation") or {}
    devices: Raw = allocation.get("devices") or {}
    if not devices.get("results"):
        return {}
    results = [_tolerations(result) for result in devices["results"]]
    return {"status": {**status, "allocation": {**allocation, "devices": {**devices, "results": results}}}}


def _request(request: Raw) -> Raw:
    result = dict(request)
    if request.get("exactly") is not None:
        result["exactly"] = _exact(request["exactly"])
    if request.get("firstAvailable"):
        result["firstAvailable"] = [_exact(subrequest) for subrequest in request["firstAvailable"]]
    return result


def _exact(request: Raw) -> Raw:
    result = _tolerations(request)
    if not result.get("allocationMode"):
        result["allocationMode"] = "ExactCount"
    if result["allocationMode"] == "ExactCount" and not result.get("count"):
        result["count"] = 1
    return result


def _tolerations(holder: Raw) -> Raw:
    tolerations = [{**entry, "operator": entry.get("operator") or "Equal"} for entry in holder.get("tolerations") or ()]
    return {**holder, "tolerations": tolerations} if tolerations else dict(holder)


def _device(device: Raw, now: str) -> Raw:
    taints = device.get("taints")
    return {**device, "taints": [_taint(taint, now) for taint in taints]} if taints else device


def _taint(taint: Raw, now: str) -> Raw:
    return taint if taint.get("timeAdded") is not None else {**taint, "timeAdded": now}
