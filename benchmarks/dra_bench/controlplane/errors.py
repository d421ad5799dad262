"""What can go wrong with the real control plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class ControlPlaneError(Exception):
    """Base class of everything that this package raises."""


class BinariesMissingError(ControlPlaneError):
    """The binaries have not been built, or the location variable points elsewhere.

    Caused by the set-up of the machine; the text says which command to run.
    """

    def __init__(self, folder: Path, missing: Sequence[str], advice: str) -> None:
        super().__init__(f"no control plane in {folder}: {', '.join(missing)} missing; {advice}")
        self.folder = folder
        self.missing = tuple(missing)


class ConfigurationError(ControlPlaneError):
    """The caller asked for something that the control plane cannot be started with; the text names the field."""


class ComponentFailedError(ControlPlaneError):
    """A component ended on its own or did not become ready in time.

    Caused by its flags or by the machine; the text ends with the tail of the component's log.
    """

    def __init__(self, component: str, problem: str, log_tail: str) -> None:
        tail = log_tail or "(its log is empty)"
        super().__init__(f"{component} {problem}; the end of its log:\n{tail}")
        self.component = component
        self.log_tail = log_tail


class PortConflictError(ComponentFailedError):
    """A component ended because another process took its port first; starting again with new ports helps."""


class RequestFailedError(ControlPlaneError):
    """The API server could not be reached, or answered something that is not JSON."""
