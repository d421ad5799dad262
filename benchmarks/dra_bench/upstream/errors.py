"""What can go wrong around Kubernetes' own tests."""

from __future__ import annotations

from dra_bench.upstream.places import BUILD_COMMAND


class UpstreamError(Exception):
    """Base of the errors here; none of them is a test that failed."""


class NotBuiltError(UpstreamError):
    """A test program, or etcd, is not there. The text says which command builds it."""

    def __init__(self, what: str, command: str = BUILD_COMMAND) -> None:
        super().__init__(f"{what} is not there: run `{command}` (needs Go)")


class ResultsError(UpstreamError):
    """The file of results cannot be read: the text names it. Move it away or mend it."""
