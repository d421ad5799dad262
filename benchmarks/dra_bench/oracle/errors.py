"""What can go wrong when the oracle is asked."""

from __future__ import annotations


class OracleError(Exception):
    """Base class."""


class OracleMissingError(OracleError):
    """The oracle's binary is not there: the user has not built it. The text names the command that does."""


class OracleAnswerError(OracleError):
    """The oracle could not read a question. The text has its reason.

    A bad question is a defect of whoever made it (a generator of ours, a case file).
    """


class OraclePanicError(OracleError):
    """Kubernetes' library panicked on a question: a bug of it. The text has the reason and the stack."""


class OracleStoppedError(OracleError):
    """The oracle ended or went silent on a question, even when started again: the question is to blame."""
