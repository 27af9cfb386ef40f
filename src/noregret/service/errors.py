"""Errors of a service, each with the status that a server answers with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.streams.options import Options


class ServiceError(NoRegretError):
    """A request that a service refuses."""

    status = 400


class OtherRows(ServiceError):
    """Raised for a learner that prepares raw rows otherwise than the one in the journal.

    Parameters
    ----------
    kept
        The options of the one in the journal; None if it takes features, not raw rows.
    cure, file
        As for ``NoRegretError``.
    """

    def __init__(self, kept: Options | None, cure: str, *, file: str) -> None:
        what = "takes features, not raw rows" if kept is None else "takes raw rows"
        super().__init__(f"its model {what}", cure, file=file)
        self.kept = kept


class Conflict(ServiceError):
    """Raised for an id that was used with other contents."""

    status = 409


class NotCertified(ServiceError):
    """Raised if no certificate covers what was served."""

    status = 409


class UnknownId(ServiceError):
    """Raised for a label whose prediction is not known, or a model that is not."""

    status = 404


class Expired(ServiceError):
    """Raised for a label that comes after its prediction's time to live."""

    status = 410


class Stopped(ServiceError):
    """Raised by a service that is closed, or whose journal could not be written."""

    status = 503
