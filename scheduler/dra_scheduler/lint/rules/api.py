"""What the API server itself refuses, sorted by what people get wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dra_allocator.features import Features
from dra_api.manifests import Document
from dra_api.references import DRA_RESOURCES
from dra_api.validation import FieldError, Rules, validate_object, with_defaults
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs

# A gate that is off is no reason to refuse: that is a rule of its own.
_RULES = Rules(Features.all_on(), partitionable_devices_type=True)
_KINDS = tuple(resource.kind for resource in DRA_RESOURCES if not resource.kind.startswith(("Pod", "ResourcePool")))
_ANY_TIME = "1970-01-01T00:00:00Z"
_EXPRESSION = ".cel.expression"
_REFERENCE = re.compile(r"\.(constraints|config)\[\d+\]\.requests\[\d+\]$")
_HINTS = {
    "selector-too-costly": "compare less text, loop over less; `dra-scheduler cel --check` tells the estimate",
    "selector-invalid": "`dra-scheduler cel --check` shows the place",
}


def _errors(inputs: Inputs) -> list[tuple[str, Fault]]:
    """Return every error of every object, under the name of its rule."""
    found = []
    for document in inputs.of_kind(*_KINDS):
        if inputs.is_stored(document):
            continue  # the server has judged it
        for error in validate_object(with_defaults(_named(document), _ANY_TIME), _RULES):
            name = _name_of(error)
            found.append((name, Fault(document, error.field, _text(error), _hint(name, inputs, document))))
    return found


def _named(document: Document) -> dict[str, object]:
    """Return the object with a name as the server would make it up."""
    obj = document.object
    if document.key.name:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "name": f"{obj['metadata']['generateName']}abcde"}}


def _name_of(error: FieldError) -> str:
    if error.type in ("FieldValueTooMany", "FieldValueTooLong"):
        return "over-limit"
    if error.field.endswith(_EXPRESSION):
        return "selector-too-costly" if error.type == "FieldValueForbidden" else "selector-invalid"
    reference = _REFERENCE.search(error.field)
    if reference is not None and error.type == "FieldValueInvalid":
        return "constraint-unknown-request" if reference.group(1) == "constraints" else "config-unknown-request"
    if "must not exceed" in error.detail:
        return "over-limit"
    return "api-invalid"


def _text(error: FieldError) -> str:
    """Return the server's words; a whole expression is not repeated."""
    return error.detail if error.field.endswith(_EXPRESSION) and error.detail else error.message


def _hint(name: str, inputs: Inputs, document: Document) -> str:
    if name in ("constraint-unknown-request", "config-unknown-request"):
        source = inputs.claim_of(document)
        names = [] if source is None else [request.name for request in source.claim.requests]
        return f"there are: {', '.join(names)}" if names else ""
    return _HINTS.get(name, "")


def _named_rule(name: str, summary: str) -> Rule:
    return Rule(name, "error", summary, _selected(name))


def _selected(name: str) -> Callable[[Inputs], Iterator[Fault]]:
    def check(inputs: Inputs) -> Iterator[Fault]:
        return (fault for found, fault in inputs.shared(_errors) if found == name)

    return check


RULES = (
    _named_rule("api-invalid", "the API server refuses the value"),
    _named_rule("over-limit", "a list or text is longer than the API allows"),
    _named_rule("selector-invalid", "a selector does not compile"),
    _named_rule("selector-too-costly", "the estimated cost of a selector is over the API server's limit"),
    _named_rule("constraint-unknown-request", "a constraint names a request that the claim does not have"),
    _named_rule("config-unknown-request", "a configuration names a request that the claim does not have"),
)
