"""Errors of a service, each with the status that a server answers with."""

from __future__ import annotations

from noregret.errors import NoRegretError


class ServiceError(NoRegretError):
    """A request that a service refuses."""

    status = 400


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
