"""Questions about one's own rights (authorization.k8s.io/v1): everybody may do everything here, and is told so."""

from __future__ import annotations

from typing import Any

from dra_api.transport import Request, Response
from dra_embedded.bodies import check_size, json_response, parse_object
from dra_embedded.status import bad_request, method_not_allowed

Object = dict[str, Any]
_VERSION = "authorization.k8s.io/v1"
_ROOT = f"/apis/{_VERSION}/"
_ALL = ["*"]
_WHY = "an embedded cluster has no RBAC"
_ANSWERS: dict[str, tuple[str, Object]] = {
    "selfsubjectaccessreviews": ("SelfSubjectAccessReview", {"allowed": True, "reason": _WHY}),
    "selfsubjectrulesreviews": (
        "SelfSubjectRulesReview",
        {
            "resourceRules": [{"verbs": _ALL, "apiGroups": _ALL, "resources": _ALL}],
            "nonResourceRules": [{"verbs": _ALL, "nonResourceURLs": _ALL}],
            "incomplete": False,
        },
    ),
}


def access_review(request: Request) -> Response | None:
    """The answer to a question about rights; None: the path is none. Raises StatusError for what is no question."""
    plural = request.path.removeprefix(_ROOT)
    if not request.path.startswith(_ROOT) or plural not in _ANSWERS:
        return None
    if request.method != "POST":
        raise method_not_allowed()
    kind, status = _ANSWERS[plural]
    asked = parse_object(check_size(request))
    if asked.get("kind", kind) != kind or not isinstance(asked.get("spec"), dict):
        raise bad_request(f"the body must be a {kind} with a spec")
    answer = {"kind": kind, "apiVersion": _VERSION, "metadata": {}, "spec": asked["spec"], "status": status}
    return json_response(201, answer)
