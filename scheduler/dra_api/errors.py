"""What this package raises, and whom it concerns."""

from __future__ import annotations


class ApiError(Exception):
    """Base class of everything that dra_api raises on purpose."""


class DecodeError(ApiError):
    """An object from outside cannot be read: whoever wrote it has to correct the field that is named.

    From an API server this happens only if the server is newer than we know or is not Kubernetes; from a file it is the
    author's mistake. `field` is a path such as `spec.devices.requests[0].exactly.count`. `code` is a stable name of
    what is wrong, such as `wrong-version`, or empty.
    """

    def __init__(
        self,
        field: str,
        problem: str,
        hint: str = "",
        *,
        kind: str = "",
        namespace: str = "",
        name: str = "",
        code: str = "",
    ) -> None:
        self.field = field
        self.problem = problem
        self.hint = hint
        self.kind = kind
        self.namespace = namespace
        self.name = name
        self.code = code
        super().__init__(field, problem, hint)

    def within(self, prefix: str) -> DecodeError:
        """Return the same error seen from further out: `prefix` is put before the field."""
        separator = "" if not self.field or self.field.startswith("[") else "."
        return DecodeError(
            f"{prefix}{separator}{self.field}",
            self.problem,
            self.hint,
            kind=self.kind,
            namespace=self.namespace,
            name=self.name,
            code=self.code,
        )

    def of(self, kind: str, namespace: str, name: str) -> DecodeError:
        """Return the same error with the object that it is about."""
        return DecodeError(
            self.field, self.problem, self.hint, kind=kind, namespace=namespace, name=name, code=self.code
        )

    @property
    def object(self) -> str:
        """The object as people write it: `ResourceClaim default/gpu`."""
        return describe(self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        where = ": ".join(part for part in (self.object, self.field) if part)
        text = f"{where}: {self.problem}" if where else self.problem
        return f"{text}; {self.hint}" if self.hint else text


class SelectorSyntaxError(ApiError):
    """A label or field selector in query form cannot be parsed: whoever sent the request has to correct it."""

    def __init__(self, text: str, problem: str) -> None:
        self.text = text
        self.problem = problem
        super().__init__(f"unable to parse selector {text!r}: {problem}")


def describe(kind: str, namespace: str, name: str) -> str:
    """Return the object as people write it: `Kind namespace/name`, parts that are not known left out."""
    return " ".join(part for part in (kind, f"{namespace}/{name}" if namespace and name else name or namespace) if part)
