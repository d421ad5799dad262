"""POST of a pod's binding."""

from __future__ import annotations

from typing import Any

from dra_api.names import subdomain_problems
from dra_api.transport import Request, Response
from dra_api.validation import FieldError
from dra_api.validation.errors import invalid, not_supported, required
from dra_embedded.bodies import check_size, json_response, parse_shaped
from dra_embedded.context import Context
from dra_embedded.dry_run import is_dry_run
from dra_embedded.kinds.shapes import BINDING
from dra_embedded.paths import Target
from dra_embedded.status import StatusError, Subject, bad_request, conflict, not_found

Object = dict[str, Any]

_SUBJECT = Subject("", "pods/binding")
_TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def bind(context: Context, target: Target, request: Request) -> Response:
    """Bind a pod to a node. Raises StatusError: 409 for a pod that is bound, gated, being deleted, or another one."""
    binding = parse_shaped(check_size(request), "Binding", BINDING)
    metadata = binding.get("metadata") or {}
    if metadata.get("name") != target.name:
        raise bad_request("name in URL does not match name in Binding object")
    node = _target_node(binding.get("target") or {})
    stored = context.store.get("pods", target.key)
    if stored is None:
        raise not_found(target.served.subject, str(target.name))
    pod, name = stored.object, str(target.name)
    _check_preconditions(metadata, pod["metadata"], target)
    if "deletionTimestamp" in pod["metadata"]:
        raise conflict(_SUBJECT, name, f"pod {name} is being deleted, cannot be assigned to a host")
    if pod["spec"].get("nodeName"):
        raise conflict(_SUBJECT, name, f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"')
    if pod["spec"].get("schedulingGates"):
        raise conflict(_SUBJECT, name, f"pod {name} has non-empty .spec.schedulingGates")
    if not is_dry_run(request):
        context.store.write("pods", stored.key, _bound(context, pod, node, metadata))
    return json_response(201, _SUCCESS)


def _bound(context: Context, pod: Object, node: str, binding: Object) -> Object:
    metadata, status = dict(pod["metadata"]), dict(pod.get("status") or {})
    metadata["generation"] = metadata.get("generation", 0)
    if binding.get("annotations"):
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **binding["annotations"]}
    labels = {**_topology(context, node), **(binding.get("labels") or {})}
    if labels:
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    status.pop("nominatedNodeName", None)
    condition: Object = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
    condition["lastTransitionTime"] = context.now()
    others = [each for each in status.get("conditions") or () if each.get("type") != "PodScheduled"]
    status["conditions"] = [*others, condition]
    return {**pod, "metadata": metadata, "spec": {**pod["spec"], "nodeName": node}, "status": status}


def _topology(context: Context, node: str) -> dict[str, str]:
    """The node's zone and region, which a bound pod shows as labels of its own (KEP-4742)."""
    labels = ((context.node(node) or {}).get("metadata") or {}).get("labels") or {}
    return {label: labels[label] for label in _TOPOLOGY_LABELS if label in labels}


def _target_node(target: Object) -> str:
    kind, name = target.get("kind") or "", target.get("name") or ""
    errors: list[FieldError] = []
    if kind not in ("", "Node"):
        errors.append(not_supported("target.kind", kind, ("Node", "<empty>")))
    if not name:
        errors.append(required("target.name"))
    else:
        errors += [invalid("target.name", name, problem) for problem in subdomain_problems(name)]
    if errors:
        # The real server does not dress these up: they come as a plain 500.
        raise StatusError(500, "", "; ".join(str(error) for error in errors))
    return str(name)


def _check_preconditions(binding: Object, pod: Object, target: Target) -> None:
    for field, word in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        wanted = binding.get(field)
        if wanted and wanted != pod[field]:
            why = f"Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {pod[field]}"
            raise conflict(target.served.subject, pod["name"], why)
