"""May we do this? The one POST of the read-only commands: a SelfSubjectAccessReview is answered and never stored."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from dra_api.transport import Request, Transport
from dra_scheduler.client.errors import ResponseError
from dra_scheduler.client.status import error_of

PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_METHOD = "POST"


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """A verb on a resource (`pods/binding` with its subresource), or on a `path` that is no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    def __str__(self) -> str:
        if self.path:
            return f"{self.verb} {self.path}"
        resource, slash, subresource = self.resource.partition("/")
        what = f"{resource}.{self.group}{slash}{subresource}" if self.group else self.resource
        return f"{self.verb} {what}{f' {self.name}' if self.name else ''}" + (
            f" in namespace {self.namespace}" if self.namespace else ""
        )


def is_question(request: Request) -> bool:
    """Whether a request only asks for one's own rights."""
    return request.method == _METHOD and request.path == PATH


async def may(transport: Transport, permission: Permission) -> bool:
    """Ask whether we have the permission. Raises ApiStatusError, ResponseError and TransportError."""
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": _spec(permission)}
    response = await transport.send(Request(_METHOD, PATH, {}, orjson.dumps(body)))
    if not 200 <= response.status <= 299:
        raise error_of(response)
    try:
        return bool(orjson.loads(response.body)["status"]["allowed"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ResponseError(f"{PATH}: the answer is no SelfSubjectAccessReview") from error


def _spec(permission: Permission) -> dict[str, dict[str, str]]:
    if permission.path:
        return {"nonResourceAttributes": {"verb": permission.verb, "path": permission.path}}
    resource, _, subresource = permission.resource.partition("/")
    asked = {
        "verb": permission.verb,
        "group": permission.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": permission.namespace,
        "name": permission.name,
    }
    return {"resourceAttributes": {key: value for key, value in asked.items() if value}}
