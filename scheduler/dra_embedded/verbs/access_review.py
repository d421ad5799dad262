"""Questions about oneself and one's rights: everybody may do everything here, and is told so.

authorization.k8s.io/v1 and, for `kubectl auth whoami`, authentication.k8s.io/v1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dra_api.transport import Request, Response
from dra_embedded.bodies import check_size, json_response, parse_object
from dra_embedded.status import bad_request, method_not_allowed

Object = dict[str, Any]
_AUTHORIZATION, _AUTHENTICATION = "authorization.k8s.io/v1", "authentication.k8s.io/v1"
_ALL = ["*"]
_WHY = "an embedded cluster has no RBAC"
_RULES = {
    "resourceRules": [{"verbs": _ALL, "apiGroups": _ALL, "resources": _ALL}],
    "nonResourceRules": [{"verbs": _ALL, "nonResourceURLs": _ALL}],
    "incomplete": False,
}
_USER = {"username": "embedded-admin", "groups": ["system:masters", "system:authenticated"]}


@dataclass(frozen=True, slots=True)
class _Review:
    """A question: its kind, and the status that answers it whatever is asked. `has_spec`: it is nothing without one."""

    version: str
    kind: str
    status: Object
    has_spec: bool = True


_REVIEWS = {
    f"/apis/{review.version}/{review.kind.lower()}s": review
    for review in (
        _Review(_AUTHORIZATION, "SelfSubjectAccessReview", {"allowed": True, "reason": _WHY}),
        _Review(_AUTHORIZATION, "SelfSubjectRulesReview", _RULES),
        _Review(_AUTHENTICATION, "SelfSubjectReview", {"userInfo": _USER}, has_spec=False),
    )
}


def is_review(path: str) -> bool:
    """Whether questions about rights are asked at this path."""
    return path in _REVIEWS


def access_review(request: Request) -> Response | None:
    """The answer to a question about rights; None: the path is none. Raises StatusError for what is no question."""
    review = _REVIEWS.get(request.path)
    if review is None:
        return None
    if request.method != "POST":
        raise method_not_allowed()
    asked = parse_object(check_size(request))
    lacks = review.has_spec and not isinstance(asked.get("spec"), dict)
    if lacks or asked.get("kind", review.kind) != review.kind:
        raise bad_request(f"the body must be a {review.kind}{' with a spec' if review.has_spec else ''}")
    answer = {"kind": review.kind, "apiVersion": review.version, "metadata": {}, "status": review.status}
    return json_response(201, {**answer, "spec": asked["spec"]} if review.has_spec else answer)
