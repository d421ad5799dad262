"""What can go wrong when decisions are measured."""

from __future__ import annotations


class BenchError(Exception):
    """Base class; the text is for whoever called the command."""


class UnknownWorkloadError(BenchError):
    """A workload was asked for that there is not: the user mistyped it."""


class WrongOutcomeError(BenchError):
    """A decision came out otherwise than the workload says: a defect of ours, its figures would mean nothing."""


class WorkerDiedError(BenchError):
    """The process of a workload ended without a result: the machine may be out of memory."""


class SavedFileError(BenchError):
    """A file given to --compare or --save cannot be used."""


class PlotError(BenchError):
    """The plot cannot be drawn: the library for it is missing, or there is nothing to draw."""


class PeerError(BenchError):
    """Kubernetes' allocator failed, or disagrees with the workload about the outcome: nothing can be compared."""
