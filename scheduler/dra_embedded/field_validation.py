"""What becomes of fields that a kind does not have (`fieldValidation` of a write): Ignore, Warn, which is the default,
and Strict. Unlike the real server's, it does not see fields that are given twice: a client's YAML reader does.
"""

from __future__ import annotations

from dra_api.transport import Request
from dra_api.validation.errors import not_supported
from dra_embedded.status import Subject, invalid

MODES = ("Ignore", "Strict", "Warn")
_OPTIONS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}
_TOTAL = 4096
_EACH = 256
"""Characters of all warnings together, and of each once that is exceeded, so that headers keep within bounds."""


class FieldValidation:
    """One write's; `unknown`: paths of the fields that were dropped."""

    def __init__(self, mode: str = "Ignore") -> None:
        self.unknown: list[str] = []
        self.strict = mode == "Strict"
        self._warn = mode == "Warn"

    @classmethod
    def of(cls, request: Request) -> FieldValidation:
        """As the request asks. Raises StatusError (422) for what is no mode."""
        mode = request.query.get("fieldValidation") or "Warn"
        if mode not in MODES:
            kind = Subject("meta.k8s.io", _OPTIONS.get(request.method, "UpdateOptions"))
            raise invalid(kind, "", [not_supported("fieldValidation", mode, ("", *MODES))])
        return cls(mode)

    def problems(self) -> list[str]:
        """One for each unknown field, as the API server words it."""
        return [f'unknown field "{field}"' for field in self.unknown]

    def headers(self) -> dict[str, str]:
        """The Warning header, if there is something to warn of (RFC 7234; code 299, as the API server's)."""
        problems = self.problems() if self._warn else []
        if sum(map(len, problems)) > _TOTAL:
            problems = [problem[:_EACH] for problem in problems[: _TOTAL // _EACH]]
        return {"warning": ", ".join(f"299 - {_quoted(problem)}" for problem in problems)} if problems else {}


def _quoted(text: str) -> str:
    printable = "".join(character for character in text if character.isprintable())
    return '"' + printable.replace("\\", "\\\\").replace('"', '\\"') + '"'
