"""What can go wrong in the scheduler itself; every package below it has a hierarchy of its own."""

from __future__ import annotations

from dra_api.errors import ApiError


class SchedulerError(Exception):
    """Base of all errors that the scheduler raises."""


class TaskDiedError(SchedulerError):
    """A part of the scheduler that must run for ever ended; the cause is chained.

    Nobody outside caused it: report it with the chained traceback. The scheduler has stopped, a restart takes
    everything up again from the cluster's state.
    """


class UnreadableObjectError(SchedulerError, ApiError):
    """An object of the cluster does not have the form that its kind promises.

    Whoever wrote the object caused it. The message names the object, the field and what is wrong; the object is left
    out until it changes.
    """

    def __init__(self, kind: str, namespace: str, name: str, problem: str) -> None:
        self.kind, self.namespace, self.name, self.problem = kind, namespace, name, problem
        where = f"{namespace}/{name}" if namespace else name
        super().__init__(f"{kind} {where}: {problem}")
