"""The API server's rules for resource.k8s.io objects in the v1 shape (Kubernetes 1.37), as pure functions.

Objects have their defaults already (`with_defaults`). Errors have the server's kinds, fields and form of text.
"""

from dra_api.validation.defaults import with_defaults
from dra_api.validation.errors import FieldError, summary
from dra_api.validation.metadata import metadata, metadata_update
from dra_api.validation.objects import validate_object, validate_spec, validate_status_update, validate_update
from dra_api.validation.rules import Rules

__all__ = [
    "FieldError",
    "Rules",
    "metadata",
    "metadata_update",
    "summary",
    "validate_object",
    "validate_spec",
    "validate_status_update",
    "validate_update",
    "with_defaults",
]
