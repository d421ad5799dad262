"""What reading the manifests finds already; here are only the names."""

from __future__ import annotations

from dra_scheduler.lint.finding import Rule

RULES = (
    Rule("odd-separator", "warning", "documents are separated by something else than three hyphens"),
    Rule("key-twice", "error", "an object has the same key twice"),
    Rule("object-twice", "error", "the same object is there twice"),
    Rule("name-outside-metadata", "error", "the name stands beside kind"),
    Rule("old-version", "error", "the object is of Kubernetes 1.30 or older"),
    Rule("unknown-version", "error", "no Kubernetes since 1.31 serves this apiVersion or kind"),
    Rule("wrong-version", "error", "a field does not exist in this apiVersion (exactly, basic, ...)"),
    Rule("capacity-form", "error", "a capacity has the form of another apiVersion"),
    Rule("unknown-field", "error", "no such field; the API server drops it"),
    Rule("wrong-value", "error", "a value has the wrong type or form"),
)
