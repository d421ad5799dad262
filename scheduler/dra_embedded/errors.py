"""Errors of the embedded cluster that are not answers of its API server (those are `status.StatusError`)."""

from __future__ import annotations


class EmbeddedError(Exception):
    """Base of every error of this package."""


class VirtualTimeError(EmbeddedError):
    """Something that virtual time cannot do was asked of the loop: threads, sockets, child processes.

    Caused by the code that runs on the loop; give it a transport and a clock that need none of them.
    """


class DeadlockError(VirtualTimeError):
    """Nothing is ready, no timer is set and the main task is not done: it would wait for ever.

    Caused by a task that awaits something nobody will do any more; `waiting` has one line a task: its name and where
    it waits.
    """

    def __init__(self, waiting: tuple[str, ...]) -> None:
        super().__init__("every task waits and no timer is set:\n  " + "\n  ".join(waiting))
        self.waiting = waiting


class EmbeddedUsageError(EmbeddedError):
    """The embedded cluster was used wrongly (for example a kind registered twice); the message says what to change."""
