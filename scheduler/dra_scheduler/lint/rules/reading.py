"""What reading the manifests finds already; here are the names, and the same for the pods of workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_api.schema import Fields, check_types
from dra_api.schemas import SCHEMAS
from dra_scheduler.lint.finding import Fault, Rule
from dra_scheduler.lint.inputs import Inputs

_POD = SCHEMAS["Pod"].fields["spec"]


def _in_workloads(name: str) -> Callable[[Inputs], Iterator[Fault]]:
    """Return the check of the pods that workloads make; pods themselves are checked when they are read."""

    def check(inputs: Inputs) -> Iterator[Fault]:
        assert isinstance(_POD, Fields)
        for pod in inputs.pods:
            if pod.document.object["kind"] == "Pod":
                continue
            for error in check_types(pod.spec, _POD, pod.path):
                if (error.code or "wrong-value") == name and not error.field.endswith("].source"):
                    yield Fault(pod.document, error.field, error.problem, error.hint)

    return check


RULES = (
    Rule("odd-separator", "warning", "documents are separated by something else than three hyphens"),
    Rule("key-twice", "error", "an object has the same key twice"),
    Rule("object-twice", "error", "the same object is there twice"),
    Rule("name-outside-metadata", "error", "the name stands beside kind"),
    Rule("old-version", "error", "the object is of Kubernetes 1.30 or older"),
    Rule("unknown-version", "error", "no Kubernetes since 1.31 serves this apiVersion or kind"),
    Rule("wrong-version", "error", "a field does not exist in this apiVersion (exactly, basic, ...)"),
    Rule("capacity-form", "error", "a capacity has the form of another apiVersion"),
    Rule("unknown-field", "error", "no such field; the API server drops it", _in_workloads("unknown-field")),
    Rule("wrong-value", "error", "a value has the wrong type or form", _in_workloads("wrong-value")),
)
