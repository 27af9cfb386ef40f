"""What can go wrong, as exceptions a program can tell apart.

All are ``NoRegretError``. Each message says what happened, where, and what to do. A
``DataWarning`` is about data that can be used, but are perhaps not what they seem.
"""

import warnings


class NoRegretError(Exception):
    """Anything noregret refuses to do."""


class BadExample(NoRegretError, ValueError):
    """An example that cannot be learned from or predicted for; nothing was learned from it.

    Parameters
    ----------
    message
        What is wrong with it, and what to do.
    round
        The round it would have been, counted from 1.
    feature
        The feature at fault, where one is.
    """

    def __init__(
        self, message: str, *, round: int | None = None, feature: str | None = None
    ) -> None:
        super().__init__(message)
        self.round = round
        self.feature = feature


class WrongUsage(NoRegretError, ValueError):
    """Something asked for that makes no sense, whatever the data hold; the command ends with 2."""


class Diverged(NoRegretError, ArithmeticError):
    """The next step would have carried the weights away; they are as they were before it.

    Parameters
    ----------
    message
        What happened, and what to change.
    round
        The round whose step was not taken.
    """

    def __init__(self, message: str, *, round: int | None = None) -> None:
        super().__init__(message)
        self.round = round


class ModelFileError(NoRegretError, ValueError):
    """A model file that is damaged, foreign, or from a newer version."""


class CertificateError(NoRegretError, ValueError):
    """A certificate file that is damaged, foreign, changed since it was made, or makes no sense."""


class DataWarning(UserWarning):
    """Data that can be used, but perhaps not as they were meant."""


def tell(message: str) -> None:
    """Warn of something in the data, once for each message."""
    warnings.warn(message, DataWarning, stacklevel=3)
