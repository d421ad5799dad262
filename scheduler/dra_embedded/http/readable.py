"""Bodies that only a full API server reads: what is made of them here, or what to do instead.

A client of Go, kubectl among them, sends protobuf unless it was made for many kinds alike (`create -f`, `apply`). None
of them tries again with JSON when it is refused.
"""

from __future__ import annotations

from dataclasses import replace

import orjson

from dra_api.transport import JSON, Request
from dra_embedded.bodies import media_type
from dra_embedded.http import protobuf
from dra_embedded.paths import parse_path
from dra_embedded.registry import Registry
from dra_embedded.status import StatusError
from dra_embedded.verbs.access_review import is_review

_UNREADABLE = {
    protobuf.CONTENT_TYPE: "an embedded cluster reads objects as JSON, not as protobuf, which kubectl create KIND"
    " sends: add --dry-run=client -o yaml and pipe that into kubectl create -f -",
    "application/apply-patch+yaml": "an embedded cluster has no server-side apply: leave out --server-side",
    "application/apply-patch+cbor": "an embedded cluster has no server-side apply: leave out --server-side",
}


def readable(request: Request, registry: Registry) -> Request:
    """The request with a body that the server reads. Raises StatusError: 415 and, for kinds that it has not, 404."""
    kind = media_type(request)
    refusal = _UNREADABLE.get(kind)
    if refusal is None or not request.body:
        return request
    if kind == protobuf.CONTENT_TYPE:
        if request.method == "DELETE":
            return replace(request, body=orjson.dumps(protobuf.delete_options(request.body)), content_type=JSON)
        if is_review(request.path):
            # Whatever is asked, the answer is the same.
            return replace(request, body=b'{"spec":{}}', content_type=JSON)
    if parse_path(request.path, registry) is None:
        return request
    raise StatusError(415, "UnsupportedMediaType", refusal)
