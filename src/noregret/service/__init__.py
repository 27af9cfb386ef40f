"""A model that keeps learning in production: a journal, labels that come late, exact restarts.

``Service`` is all of it without a network, for use inside a program.
"""

from noregret.service.errors import (
    Conflict,
    Expired,
    NotCertified,
    ServiceError,
    Stopped,
    UnknownId,
)
from noregret.service.requests import Reply, Request
from noregret.service.service import Service

__all__ = [
    "Conflict",
    "Expired",
    "NotCertified",
    "Reply",
    "Request",
    "Service",
    "ServiceError",
    "Stopped",
    "UnknownId",
]
